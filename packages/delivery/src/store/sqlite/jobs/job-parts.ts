import type { DatabaseSync } from 'node:sqlite'
import { DEAD_LETTER_STATES } from '../../dead-letter-store.ts'
import type { LetterSelection, PartPlace } from '../../job-store.ts'
import {
  type DividedPart,
  type LetterPart,
  MAX_LOOKED_AT,
  type PartStep,
  partsOfLetters,
} from '../../jobs/letter-part.ts'
import { type JudgedLetter, letterJudge, needsPayload } from '../../letters/letter-judge.ts'
import { compareLetters, type LetterStand, standOf } from '../../letters/letter-order.ts'
import { deadLetterId, rowOfDeadLetterId } from '../../outcomes/dead-letter-id.ts'
import type { LetterRanges } from '../letters/letter-ranges.ts'
import { mergedBy } from '../outcomes/merged.ts'
import { type StoredNames, soughtNames } from '../stored-names.ts'

const OPEN = DEAD_LETTER_STATES.indexOf('open')

/**
 * Reads the open dead letters of one destination and partition ordered by place, which is the order per user in which they are
 * replayed. The place of a walk is the last dead letter that it read.
 */
export class JobParts {
  readonly #names: StoredNames
  readonly #ranges: LetterRanges
  readonly #statements

  constructor(db: DatabaseSync, names: StoredNames, ranges: LetterRanges) {
    this.#names = names
    this.#ranges = ranges
    const walk = (event: string) =>
      db.prepare(
        `SELECT id, state, source, stage, reason, dead_at, partition, offset, idx, ${event} FROM dead_letters
         WHERE destination = ? AND partition = ? AND (offset, idx, id) > (?, ?, ?) ORDER BY offset, idx, id`,
      )
    this.#statements = {
      walk: walk("'' AS event"),
      walkWithEvent: walk('event'),
      named: db.prepare('SELECT id, destination, partition, offset, idx, dead_at FROM dead_letters WHERE id = ?'),
      state: db.prepare('SELECT state FROM dead_letters WHERE id = ?'),
      nextPartition: db.prepare(
        'SELECT min(partition) AS partition FROM dead_letters WHERE destination = ? AND partition > ?',
      ),
    }
  }

  /** The parts of a selection. */
  divide(selection: LetterSelection, destinationIds: readonly string[]): DividedPart[] {
    const known = destinationIds.flatMap((id) => this.#names.find(id) ?? [])
    if ('filter' in selection) {
      const { destinationId } = selection.filter
      const wanted = destinationId === undefined ? known : known.filter((id) => id === this.#names.find(destinationId))
      return wanted.flatMap((destination) =>
        this.#partitions(destination).map((partition) => ({ destination, partition, letters: null })),
      )
    }
    const letters = [...new Set(selection.ids)].flatMap((id) => this.#namedRow(id) ?? [])
    return partsOfLetters(letters.filter(({ destination }) => known.includes(destination)))
  }

  /** The partitions in which a destination has dead letters, in order. */
  #partitions(destination: number): number[] {
    const partitions: number[] = []
    for (let after = -1; ; ) {
      const row = this.#statements.nextPartition.get(destination, after)!['partition'] as number | null
      const next = Math.min(
        row ?? Number.POSITIVE_INFINITY,
        this.#ranges.nextPartition(destination, after) ?? Number.POSITIVE_INFINITY,
      )
      if (next === Number.POSITIVE_INFINITY) return partitions
      partitions.push(next)
      after = next
    }
  }

  /** The next dead letters, at most `limit`. */
  step(part: LetterPart, after: PartPlace, limit: number): PartStep {
    return part.letters === null ? this.#walk(part, after, limit) : this.#named(part.letters, after[0] ?? 0, limit)
  }

  #namedRow(id: string): NamedRow | undefined {
    const number = rowOfDeadLetterId(id)
    const row =
      number === undefined
        ? undefined
        : ((this.#statements.named.get(number) as NamedRow | undefined) ?? this.#ranges.get(number))
    return row !== undefined && deadLetterId(row.id, row.dead_at) === id ? row : undefined
  }

  #named(letters: readonly number[], from: number, limit: number): PartStep {
    const ids: number[] = []
    let at = from
    while (at < letters.length && ids.length < limit) {
      const id = letters[at++]!
      const letter = (this.#statements.state.get(id) as { state: number } | undefined) ?? this.#ranges.get(id)
      if (letter?.state === OPEN) ids.push(id)
    }
    return { ids, place: [at], isAtEnd: at === letters.length, lookedAt: at - from }
  }

  #walk({ destination, partition, filter, lastLetter }: LetterPart, after: PartPlace, limit: number): PartStep {
    const isWanted = letterJudge(filter, soughtNames(filter, this.#names))
    const { walk, walkWithEvent } = this.#statements
    const last = standOf(partition, after)
    const hasEvents = needsPayload(filter)
    const found = (hasEvents ? walkWithEvent : walk).iterate(destination, partition, last.offset, last.idx, last.id)
    const packed = this.#ranges.byPlace(destination, last, hasEvents)
    const ids: number[] = []
    let place = after
    let lookedAt = 0
    for (const row of mergedBy(found as unknown as Iterable<WalkedRow>, packed, (a, b) => compareLetters(a, b) < 0)) {
      if (ids.length >= limit || lookedAt >= MAX_LOOKED_AT) return { ids, place, isAtEnd: false, lookedAt }
      lookedAt++
      place = [row.partition, row.offset, row.idx, row.id]
      if (row.state === OPEN && row.id <= lastLetter && isWanted(row)) ids.push(row.id)
    }
    return { ids, place, isAtEnd: true, lookedAt }
  }
}

interface NamedRow extends LetterStand {
  readonly destination: number
  readonly dead_at: number
}

interface WalkedRow extends JudgedLetter, LetterStand {
  readonly state: number
}
