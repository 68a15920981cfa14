import type { DatabaseSync } from 'node:sqlite'
import { DEAD_LETTER_STATES } from '../../dead-letter-store.ts'
import { alikeLetters, FEWEST_ALIKE } from '../../letters/alike-letters.ts'
import { compareLetters, type LetterStand } from '../../letters/letter-order.ts'
import type { PartitionOffset } from '../../outcome-store.ts'
import { type DeadLetterWrite, STAGES } from '../../outcomes/flush.ts'
import { IN_PARTITIONS } from '../in-partitions.ts'
import type { StoredNames } from '../stored-names.ts'
import { countPlaces, findPlace, packLetters, readPlace, unpackEvents } from './letter-block.ts'
import type { LetterCondition } from './letter-condition.ts'
import { isGone, letterOf, type RangeLetter, type RangeRow, takeOut } from './range-letter.ts'

const OPEN = DEAD_LETTER_STATES.indexOf('open')
const DISCARDED = DEAD_LETTER_STATES.indexOf('discarded')
const NEVER = 0

/**
 * Many dead letters with one reason and without attempts of their own: an outage gives up thousands in a second, and
 * must not write as many rows.
 *
 *   in a range → a row of dead_letters with the same id: `leave`, before its state changes alone
 *   in a range → discarded in it, all together: their destination, connection or source was removed
 *
 * A letter's id is the number of the first letter plus its index, from the same sequence as row numbers: both form one
 * list.
 *
 * @see contracts/delivery.md §8 [D643], decision 0060
 */
export class LetterRanges {
  readonly #db: DatabaseSync
  readonly #names: StoredNames
  readonly #statements
  /** The range that was unpacked last: a caller usually reads neighbouring letters next. */
  #unpacked: { readonly first: number; readonly events: readonly string[] } | undefined

  constructor(db: DatabaseSync, names: StoredNames) {
    this.#db = db
    this.#names = names
    this.#statements = {
      lastNumber: db.prepare("SELECT coalesce(max(seq), 0) AS last FROM sqlite_sequence WHERE name = 'dead_letters'"),
      moveNumber: db.prepare("UPDATE sqlite_sequence SET seq = ? WHERE name = 'dead_letters'"),
      firstNumber: db.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES ('dead_letters', ?)"),
      insert: db.prepare(
        `INSERT INTO letter_ranges (first, last, destination, source, partition, first_offset, last_offset, state, stage,
           reason, dead_at, last_status, last_answer, revision, state_at, letters, event_bytes, packed_bytes, gone)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
      insertLetters: db.prepare('INSERT INTO range_letters (first, places, events) VALUES (?, ?, ?)'),
      around: db.prepare('SELECT * FROM letter_ranges WHERE first <= ? ORDER BY first DESC LIMIT 1'),
      places: db.prepare('SELECT places FROM range_letters WHERE first = ?'),
      events: db.prepare('SELECT events FROM range_letters WHERE first = ?'),
      over: db.prepare(
        `SELECT * FROM letter_ranges WHERE destination = ? AND partition = ? AND last_offset >= ? AND first_offset <= ?
         ORDER BY first DESC`,
      ),
      // Ranges in which a walk at this place may find more letters.
      openFrom: db.prepare(
        `SELECT * FROM letter_ranges WHERE destination = ? AND state = ${OPEN} AND partition = ? AND last_offset >= ?
         ORDER BY first_offset, first`,
      ),
      oldest: db.prepare(
        `SELECT * FROM letter_ranges WHERE destination = ? AND state = ${OPEN} AND ${IN_PARTITIONS} ORDER BY first LIMIT ?`,
      ),
      shrink: db.prepare('UPDATE letter_ranges SET letters = ?, event_bytes = ?, gone = ? WHERE first = ?'),
      drop: db.prepare('DELETE FROM letter_ranges WHERE first = ?'),
      nextPartition: db.prepare(
        'SELECT min(partition) AS partition FROM letter_ranges WHERE destination = ? AND partition > ?',
      ),
      countByDestination: db.prepare(
        `SELECT destination, sum(letters) AS count FROM letter_ranges WHERE state = ${OPEN} GROUP BY destination`,
      ),
    }
  }

  /** The number of the newest dead letter; 0 if there was none. */
  get lastNumber(): number {
    return (this.#statements.lastNumber.get() as { last: number }).last
  }

  /** Writes groups of similar dead letters as ranges. @returns the others, in order. */
  write(letters: readonly DeadLetterWrite[]): DeadLetterWrite[] {
    const { groups, others } = alikeLetters(letters)
    for (const group of groups) this.#write(group)
    return others
  }

  get(id: number): RangeLetter | undefined {
    const range = this.#statements.around.get(id) as RangeRow | undefined
    const i = id - (range?.first ?? id)
    if (range === undefined || id > range.last || isGone(range, i)) return undefined
    const places = this.#places(range)
    return letterOf(range, readPlace(places, i), i, this.#events(range, places)[i]!)
  }

  at(destination: number, partition: number, offset: number, index: number): RangeLetter | undefined {
    for (const each of this.#statements.over.all(destination, partition, offset, offset)) {
      const range = each as unknown as RangeRow
      const places = this.#places(range)
      const i = findPlace(places, offset, index)
      if (i < 0 || isGone(range, i)) continue
      return letterOf(range, readPlace(places, i), i, this.#events(range, places)[i]!)
    }
    return undefined
  }

  /**
   * Newest first, those before a number.
   *
   * @param mayHold whether a range can contain wanted letters; if not, one letter represents the whole range.
   * @param hasEvents false leaves the events empty.
   */
  *newestBefore(
    id: number,
    condition: LetterCondition,
    mayHold: (letter: RangeLetter) => boolean,
    hasEvents: boolean,
  ): Generator<RangeLetter> {
    const found = this.#db.prepare(`SELECT * FROM letter_ranges WHERE first < ? ${condition.sql} ORDER BY first DESC`)
    for (const each of found.iterate(id, ...condition.values)) {
      const range = each as unknown as RangeRow
      const places = this.#places(range)
      const sample = letterOf(range, readPlace(places, 0), 0, '')
      if (!mayHold(sample)) {
        yield sample
        continue
      }
      const events = hasEvents ? this.#events(range, places) : undefined
      for (let i = Math.min(range.last, id - 1) - range.first; i >= 0; i--) {
        if (!isGone(range, i)) yield letterOf(range, readPlace(places, i), i, events?.[i] ?? '')
      }
    }
  }

  /** Open letters of a destination in a partition after a place, ordered by place. */
  *byPlace(destination: number, last: LetterStand, hasEvents: boolean): Generator<RangeLetter> {
    const ranges = this.#statements.openFrom.all(destination, last.partition, last.offset) as unknown as RangeRow[]
    const begun: RangeLetter[][] = []
    for (let next = 0; next < ranges.length || begun.length > 0; ) {
      let first = begun.length === 0 ? undefined : begun.reduce((a, b) => (compareLetters(b[0]!, a[0]!) < 0 ? b : a))
      while (next < ranges.length && (first === undefined || mayComeBefore(ranges[next]!, first[0]!))) {
        const range = ranges[next++]!
        const letters = this.#letters(range, hasEvents).filter(
          (letter, i) => !isGone(range, i) && compareLetters(letter, last) > 0,
        )
        if (letters.length === 0) continue
        begun.push(letters)
        if (first === undefined || compareLetters(letters[0]!, first[0]!) < 0) first = letters
      }
      if (first === undefined) return
      yield first.shift()!
      if (first.length === 0) begun.splice(begun.indexOf(first), 1)
    }
  }

  /** The oldest open letters of a destination in some partitions: at least `count` if there are as many. */
  oldest(destination: number, partitions: readonly number[], count: number): RangeLetter[] {
    const most = Math.ceil(count / FEWEST_ALIKE)
    const ranges = this.#statements.oldest.all(destination, JSON.stringify(partitions), most) as unknown as RangeRow[]
    const found: RangeLetter[] = []
    for (const range of ranges) {
      if (found.length >= count) break
      found.push(...this.#letters(range).filter((_, i) => !isGone(range, i)))
    }
    return found
  }

  /** A destination's letters between two offsets, both included, without their events. */
  *between(destination: number, partition: number, first: number, last: number): Generator<RangeLetter> {
    for (const each of this.#statements.over.all(destination, partition, first, last)) {
      const range = each as unknown as RangeRow
      for (const [i, letter] of this.#letters(range, false).entries()) {
        if (letter.offset >= first && letter.offset <= last && !isGone(range, i)) yield letter
      }
    }
  }

  /**
   * Removes letters from their ranges. @returns the removed letters; the caller stores them elsewhere, or ends them.
   */
  leave(ids: readonly number[]): RangeLetter[] {
    const left: RangeLetter[] = []
    let range: RangeRow | undefined
    let letters: RangeLetter[] = []
    const close = () => {
      if (range === undefined) return
      if (range.letters === 0) this.#statements.drop.run(range.first)
      else this.#statements.shrink.run(range.letters, range.event_bytes, range.gone, range.first)
    }
    for (const id of ids.toSorted((a, b) => a - b)) {
      if (range === undefined || id > range.last) {
        close()
        range = this.#statements.around.get(id) as RangeRow | undefined
        if (range !== undefined && id > range.last) range = undefined
        letters = range === undefined ? [] : this.#letters(range)
      }
      if (range === undefined) continue
      const i = id - range.first
      if (isGone(range, i)) continue
      const letter = letters[i]!
      takeOut(range, i, letter.event)
      left.push(letter)
    }
    close()
    return left
  }

  /** The open letters before a place in ranges that reach over it. */
  cutBy({ partition, offset }: PartitionOffset, { sql, values }: LetterCondition): number[] {
    const ranges = this.#db
      .prepare(
        `SELECT * FROM letter_ranges WHERE state = ${OPEN} AND partition = ? AND first_offset < ? AND last_offset >= ? ${sql}`,
      )
      .all(partition, offset, offset, ...values) as unknown as RangeRow[]
    return ranges.flatMap((range) =>
      this.#letters(range, false).flatMap((letter, i) =>
        letter.offset < offset && !isGone(range, i) ? letter.id : [],
      ),
    )
  }

  discard({ sql, values }: LetterCondition, reason: number, at: number): void {
    const discard = `UPDATE letter_ranges SET state = ?, end_reason = ?, state_at = ? WHERE state = ${OPEN} ${sql}`
    this.#db.prepare(discard).run(DISCARDED, reason, at, ...values)
  }

  countOpen({ sql, values }: LetterCondition): number {
    const count = `SELECT coalesce(sum(letters), 0) AS count FROM letter_ranges WHERE state = ${OPEN} ${sql}`
    return (this.#db.prepare(count).get(...values) as { count: number }).count
  }

  countOpenByDestination(): { destination: number; count: number }[] {
    return this.#statements.countByDestination.all() as { destination: number; count: number }[]
  }

  /** The next partition in which a destination has ranges; undefined after the last one. */
  nextPartition(destination: number, after: number): number | undefined {
    return (this.#statements.nextPartition.get(destination, after)!['partition'] as number | null) ?? undefined
  }

  #write(letters: readonly DeadLetterWrite[]): void {
    const { destinationId, sourceId, partition, stage, reason, deadAt, lastStatus, lastAnswer, revision } = letters[0]!
    const first = this.#reserve(letters.length)
    // Numbers of a rolled-back transaction are assigned again.
    this.#unpacked = undefined
    const { places, events, eventBytes } = packLetters(letters)
    this.#statements.insert.run(
      first,
      first + letters.length - 1,
      this.#names.number(destinationId),
      this.#names.number(sourceId),
      partition,
      letters[0]!.offset,
      letters.at(-1)!.offset,
      OPEN,
      STAGES.indexOf(stage),
      this.#names.number(reason),
      deadAt,
      lastStatus,
      lastAnswer === null ? null : this.#names.number(lastAnswer),
      revision,
      NEVER,
      letters.length,
      eventBytes,
      places.length + events.length,
      Buffer.alloc(Math.ceil(letters.length / 8)),
    )
    this.#statements.insertLetters.run(first, places, events)
  }

  /** @returns the first of these consecutive numbers, which no row will get. */
  #reserve(count: number): number {
    const last = this.lastNumber
    const { moveNumber, firstNumber } = this.#statements
    if (moveNumber.run(last + count).changes === 0) firstNumber.run(last + count)
    return last + 1
  }

  /** By index in the range, including letters that have left it. */
  #letters(range: RangeRow, hasEvents = true): RangeLetter[] {
    const places = this.#places(range)
    const events = hasEvents ? this.#events(range, places) : []
    return Array.from({ length: countPlaces(places) }, (_, i) =>
      letterOf(range, readPlace(places, i), i, events[i] ?? ''),
    )
  }

  #places({ first }: RangeRow): Uint8Array {
    return (this.#statements.places.get(first) as { places: Uint8Array }).places
  }

  #events({ first }: RangeRow, places: Uint8Array): readonly string[] {
    if (this.#unpacked?.first === first) return this.#unpacked.events
    const { events } = this.#statements.events.get(first) as { events: Uint8Array }
    this.#unpacked = { first, events: unpackEvents(places, events) }
    return this.#unpacked.events
  }
}

function mayComeBefore(range: RangeRow, letter: RangeLetter): boolean {
  return range.first_offset <= letter.offset
}
