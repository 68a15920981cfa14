import type { DatabaseSync } from 'node:sqlite'
import type { Scope } from '../../dead-letter-store.ts'
import { DEAD_LETTER_STATES, type DeadLetterFilter, type DeadLetterRow } from '../../dead-letter-store.ts'
import { type JudgedLetter, letterJudge, needsPayload } from '../../letters/letter-judge.ts'
import { DISCARDED_BY_PERSON, MAX_LOOKED_AT } from '../../letters/letter-limits.ts'
import type { OutcomeStore, PartitionOffset, Recorded } from '../../outcome-store.ts'
import { deadLetterId, rowOfDeadLetterId } from '../../outcomes/dead-letter-id.ts'
import { type DeadLetterWrite, STAGES } from '../../outcomes/flush.ts'
import { IN_PARTITIONS, isBefore, pairsOf } from '../in-partitions.ts'
import { mergedBy } from '../outcomes/merged.ts'
import type { VersionTable } from '../outcomes/version-table.ts'
import { type StoredNames, soughtNames } from '../stored-names.ts'
import { writable } from '../writable.ts'
import { type LetterCondition, letterCondition } from './letter-condition.ts'
import type { LetterRanges } from './letter-ranges.ts'

/** Value for a dead letter that was always open. */
const NEVER = 0
const OPEN = DEAD_LETTER_STATES.indexOf('open')
const REPLAYING = DEAD_LETTER_STATES.indexOf('replaying')
const DISCARDED = DEAD_LETTER_STATES.indexOf('discarded')

/**
 * Events that delivery gave up, with their payload: the log may delete the event before a person reads it. A dead
 * letter is a row, or part of a range of many. One list contains both, and callers cannot distinguish them.
 */
export class DeadLetterTable {
  readonly #db: DatabaseSync
  readonly #names: StoredNames
  readonly #versions: VersionTable
  readonly #ranges: LetterRanges
  readonly #statements

  constructor(db: DatabaseSync, names: StoredNames, versions: VersionTable, ranges: LetterRanges) {
    this.#db = db
    this.#names = names
    this.#versions = versions
    this.#ranges = ranges
    this.#statements = {
      insert: db.prepare(
        `INSERT INTO dead_letters (destination, source, partition, offset, idx, state, stage, reason, accepted_at, dead_at,
           attempts, last_status, last_answer, revision, state_at, requests, event, replay)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
      insertOfRange: db.prepare(
        `INSERT INTO dead_letters (id, destination, source, partition, offset, idx, state, stage, reason, accepted_at,
           dead_at, attempts, last_status, last_answer, revision, state_at, end_reason, event)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
      get: db.prepare('SELECT * FROM dead_letters WHERE id = ?'),
      oldest: db.prepare(
        `SELECT id, octet_length(event) AS bytes FROM dead_letters WHERE destination = ? AND state = ${OPEN}
           AND ${IN_PARTITIONS} ORDER BY id LIMIT ?`,
      ),
      drop: db.prepare('DELETE FROM dead_letters WHERE id = ?'),
      at: db.prepare(
        'SELECT * FROM dead_letters WHERE destination = ? AND partition = ? AND offset = ? AND idx = ? ORDER BY id DESC LIMIT 1',
      ),
      discard: db.prepare('UPDATE dead_letters SET state = ?, end_reason = ?, state_at = ? WHERE id = ?'),
      countByDestination: db.prepare(
        'SELECT destination, count(*) AS count FROM dead_letters WHERE state = ? GROUP BY destination',
      ),
    }
  }

  write(letters: readonly DeadLetterWrite[]): void {
    for (const { event, stage } of letters) {
      if (typeof event !== 'string' || !STAGES.includes(stage))
        throw new TypeError('a dead letter lacks its event or stage')
    }
    for (const letter of this.#ranges.write(letters)) this.#write(letter)
  }

  /** Turns each of these dead letters into a row and keeps its id. */
  unpack(rows: readonly number[]): void {
    for (const letter of this.#ranges.leave(rows)) {
      const { id, destination, source, partition, offset, idx, state, stage, reason, accepted_at, dead_at } = letter
      const { attempts, last_status, last_answer, revision, state_at, end_reason, event } = letter
      const place = [id, destination, source, partition, offset, idx]
      const facts = [state, stage, reason, accepted_at, dead_at, attempts, last_status, last_answer]
      this.#statements.insertOfRange.run(...place, ...facts, revision, state_at, end_reason, event)
    }
  }

  #write(letter: DeadLetterWrite): void {
    const { partition, offset, index, acceptedAt, deadAt, attempts, lastStatus, lastAnswer, revision } = letter
    const columns = [
      this.#names.number(letter.destinationId),
      this.#names.number(letter.sourceId),
      ...[partition, offset, index, OPEN, STAGES.indexOf(letter.stage), this.#names.number(letter.reason)],
      ...[acceptedAt, deadAt, attempts, lastStatus, lastAnswer === null ? null : this.#names.number(lastAnswer)],
      ...[revision, NEVER, letter.requests === null ? null : JSON.stringify(letter.requests), letter.event],
      letter.replayId === null ? null : this.#names.number(letter.replayId),
    ]
    this.#statements.insert.run(...writable(columns))
  }

  get(id: string): DeadLetterRow | undefined {
    const number = rowOfDeadLetterId(id)
    if (number === undefined) return undefined
    const row = this.#row(number)
    const letter = row && this.#letter(row)
    return letter?.id === id ? letter : undefined
  }

  byRow(row: number): DeadLetterRow {
    return this.#letter(this.#row(row)!)
  }

  recorded(destination: number, partition: number, offset: number, index: number): Recorded | undefined {
    const row =
      (this.#statements.at.get(destination, partition, offset, index) as Row | undefined) ??
      this.#ranges.at(destination, partition, offset, index)
    return row && { kind: 'dead_letter', ...this.#letter(row) }
  }

  /** Newest first, those before row `before`; `next` is the place of the next page, null at the end. */
  list(filter: DeadLetterFilter, limit: number, before: number | null): { rows: DeadLetterRow[]; next: number | null } {
    const isWanted = this.#judge(filter)
    const rows: DeadLetterRow[] = []
    let lookedAt = 0
    for (const row of this.#newestBefore(before ?? Number.MAX_SAFE_INTEGER, filter)) {
      if (isWanted(row)) {
        if (rows.length === limit) return { rows, next: rowOfDeadLetterId(rows[limit - 1]!.id)! }
        rows.push(this.byRow(row.id))
      }
      if (++lookedAt >= MAX_LOOKED_AT) return { rows, next: row.id }
    }
    return { rows, next: null }
  }

  /**
   * Reads some of the dead letters before `before`, newest first.
   *
   * @param before null: all.
   * @returns the place to continue from, null at the end.
   */
  lookAt(filter: DeadLetterFilter, before: number | null, take: (letter: LookedAt) => void): number | null {
    const isWanted = this.#judge(filter)
    let lookedAt = 0
    for (const row of this.#newestBefore(before ?? Number.MAX_SAFE_INTEGER, filter)) {
      if (isWanted(row)) take(row)
      if (++lookedAt >= MAX_LOOKED_AT) return row.id
    }
    return null
  }

  countOpen(scope: Scope): number {
    const { sql, values } = this.#condition(scope)
    const row = this.#db
      .prepare(`SELECT count(*) AS count FROM dead_letters WHERE state = ? ${sql}`)
      .get(OPEN, ...values)
    return (row as { count: number }).count + this.#ranges.countOpen({ sql, values })
  }

  countOpenByDestination(): [string, number][] {
    const rows = this.#statements.countByDestination.all(OPEN) as { destination: number; count: number }[]
    const counts = new Map<number, number>()
    for (const { destination, count } of [...rows, ...this.#ranges.countOpenByDestination()]) {
      counts.set(destination, (counts.get(destination) ?? 0) + count)
    }
    return [...counts].map(([destination, count]) => [this.#names.text(destination), count])
  }

  /** The oldest open dead letters of a destination in some partitions, with the bytes of their events. */
  oldest(destination: number, partitions: readonly number[], limit: number): { id: number; bytes: number }[] {
    const rows = this.#statements.oldest.all(destination, JSON.stringify(partitions), limit)
    const packed = this.#ranges.oldest(destination, partitions, limit)
    const all = [
      ...(rows as { id: number; bytes: number }[]),
      ...packed.map(({ id, event }) => ({ id, bytes: Buffer.byteLength(event) })),
    ]
    return all.sort((a, b) => a.id - b.id).slice(0, limit)
  }

  /** Deletes them completely. */
  drop(rows: readonly number[]): void {
    this.#ranges.leave(rows)
    for (const row of rows) this.#statements.drop.run(row)
  }

  /** Dead letters in the states open and replaying. @see OutcomeStore.discard */
  discard({ scope, partitions, keptFrom, reason, at }: DiscardedScope): number {
    const inScope = this.#condition(scope)
    const inPartitions = `${inScope.sql} AND ${IN_PARTITIONS}`
    const sql = `${inPartitions} AND ${isBefore('offset')}`
    const values = [...inScope.values, JSON.stringify(partitions), pairsOf(keptFrom)]
    for (const place of keptFrom) this.unpack(this.#ranges.cutBy(place, inScope))
    const wholeRanges = { sql: `${inPartitions} AND ${isBefore('last_offset')}`, values }
    const end = `UPDATE dead_letters SET state = ?, end_reason = ?, state_at = ?, wait = NULL`
    const number = this.#names.number(reason)
    const inRanges = this.#ranges.countOpen(wholeRanges)
    const { changes } = this.#db.prepare(`${end} WHERE state = ? ${sql}`).run(DISCARDED, number, at, OPEN, ...values)
    this.#db.prepare(`${end} WHERE state > 0 AND state = ? ${sql}`).run(DISCARDED, number, at, REPLAYING, ...values)
    this.#ranges.discard(wholeRanges, number, at)
    return Number(changes) + inRanges
  }

  /** A person discards a dead letter, if it is open. @returns its state before the call. */
  discardOne(id: string, at: number): DeadLetterRow | undefined {
    const letter = this.get(id)
    if (letter?.state !== 'open') return letter
    this.discardRows([rowOfDeadLetterId(id)!], at)
    return letter
  }

  /** A person discards open dead letters. */
  discardRows(rows: readonly number[], at: number): void {
    this.unpack(rows)
    const reason = this.#names.number(DISCARDED_BY_PERSON)
    for (const row of rows) this.#statements.discard.run(DISCARDED, reason, at, row)
  }

  #row(id: number): Row | undefined {
    return (this.#statements.get.get(id) as Row | undefined) ?? this.#ranges.get(id)
  }

  /**
   * The columns that a filter needs, row by row. SQLite evaluates only the conditions that an index answers: any other
   * condition would make it scan the whole list, uncounted.
   */
  #newestBefore(id: number, filter: DeadLetterFilter): Iterable<LookedAt> {
    const { state, destinationId } = filter
    const event = needsPayload(filter) ? 'event' : "'' AS event"
    const columns = `id, destination, source, state, stage, reason, dead_at, last_status, ${event}`
    const isIndexed = state !== undefined && (destinationId !== undefined || state !== 'open')
    const { sql, values } = this.#condition(isIndexed ? { state, destinationId } : {})
    const rows = this.#db
      .prepare(`SELECT ${columns} FROM dead_letters WHERE id < ? ${sql} ORDER BY id DESC`)
      .iterate(id, ...values) as unknown as Iterable<LookedAt>
    const { userId: _, messageId: __, ...ofRange } = filter
    const inRanges = this.#condition({ state, destinationId })
    const packed = this.#ranges.newestBefore(id, inRanges, this.#judge(ofRange), needsPayload(filter))
    return mergedBy<LookedAt>(rows, packed, (a, b) => a.id > b.id)
  }

  #judge(filter: DeadLetterFilter): (row: LookedAt) => boolean {
    const isJudgedGood = letterJudge(filter, soughtNames(filter, this.#names))
    const { destinationId, state } = filter
    const destination = this.#names.sought(destinationId)
    const stateIndex = state === undefined ? undefined : (DEAD_LETTER_STATES as readonly string[]).indexOf(state)
    return (row) =>
      (destination === undefined || row.destination === destination) &&
      (stateIndex === undefined || row.state === stateIndex) &&
      isJudgedGood(row)
  }

  #condition({ destinationId, sourceId, state }: Scope & { readonly state?: string | undefined }): LetterCondition {
    const number = state === undefined ? undefined : (DEAD_LETTER_STATES as readonly string[]).indexOf(state)
    const { sql, values } = letterCondition({
      destination: this.#names.sought(destinationId),
      source: this.#names.sought(sourceId),
      state: number,
    })
    // SQLite uses the partial index of ended dead letters only if the query repeats its condition.
    return { sql: number !== undefined && number > 0 ? ` AND state > 0${sql}` : sql, values }
  }

  #letter(row: Row): DeadLetterRow {
    return {
      id: deadLetterId(row.id, row.dead_at),
      state: DEAD_LETTER_STATES[row.state]!,
      destinationId: this.#names.text(row.destination),
      sourceId: this.#names.text(row.source),
      partition: row.partition,
      stream: 0,
      offset: row.offset,
      index: row.idx,
      stage: STAGES[row.stage]!,
      reason: this.#names.text(row.reason),
      acceptedAt: row.accepted_at,
      deadAt: row.dead_at,
      attempts: row.attempts,
      lastStatus: row.last_status,
      lastAnswer: row.last_answer === null ? null : this.#names.text(row.last_answer),
      revision: row.revision,
      versionIds: this.#versions.of(row.destination, row.revision),
      requests: row.requests === null ? null : JSON.parse(row.requests),
      event: row.event,
      endReason: row.end_reason === null ? null : this.#names.text(row.end_reason),
      replayId: row.replay === null ? null : this.#names.text(row.replay),
      stateAt: row.state_at,
      wait: row.wait === null ? null : JSON.parse(row.wait),
    }
  }
}

/** The columns that a list reads of a dead letter; names and texts as numbers. */
export type LookedAt = JudgedLetter & Pick<Row, 'id' | 'destination' | 'state' | 'last_status'>

type DiscardedScope = Pick<Parameters<OutcomeStore['discard']>[0], 'scope' | 'partitions' | 'reason' | 'at'> & {
  readonly keptFrom: readonly PartitionOffset[]
}

interface Row {
  id: number
  destination: number
  source: number
  partition: number
  offset: number
  idx: number
  state: number
  stage: number
  reason: number
  accepted_at: number
  dead_at: number
  attempts: number
  last_status: number
  last_answer: number | null
  revision: number
  requests: string | null
  event: string
  end_reason: number | null
  replay: number | null
  state_at: number
  wait: string | null
}
