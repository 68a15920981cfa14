import type { DatabaseSync } from 'node:sqlite'
import { deadLetterId, rowOfDeadLetterId } from '../../dead-letter-id.ts'
import { DEAD_LETTER_STATES, type DeadLetterFilter } from '../../dead-letter-store.ts'
import type { LetterSelection, PartPlace } from '../../job-store.ts'
import { type JudgedLetter, letterJudge, needsPayload } from '../../letters/letter-judge.ts'
import { compareLetters, type LetterStand, standOf } from '../../letters/letter-order.ts'
import type { LetterRanges } from '../letters/letter-ranges.ts'
import { mergedBy } from '../outcomes/merged.ts'
import { type StoredNames, soughtNames } from '../stored-names.ts'

/** Maximum of rows read in one step: outcomes wait for a step. */
const MAX_LOOKED_AT = 5_000
const OPEN = DEAD_LETTER_STATES.indexOf('open')

/** The selection of a part. */
export interface LetterPart {
  readonly destination: number
  readonly filter: DeadLetterFilter
  /** The job excludes later dead letters. */
  readonly lastLetter: number
  /** Rows by number, if the request listed ids. */
  readonly letters: readonly number[] | null
}

export interface PartStep {
  /** Rows of open dead letters, in the order in which their events were accepted. */
  readonly rows: readonly number[]
  readonly place: PartPlace
  readonly isAtEnd: boolean
}

/**
 * Reads the open dead letters of one destination ordered by place, which is the order per user in which they are
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
         WHERE destination = ? AND (partition, offset, idx, id) > (?, ?, ?, ?) ORDER BY partition, offset, idx, id`,
      )
    this.#statements = {
      walk: walk("'' AS event"),
      walkWithEvent: walk('event'),
      named: db.prepare('SELECT id, destination, partition, offset, idx, dead_at FROM dead_letters WHERE id = ?'),
      state: db.prepare('SELECT state FROM dead_letters WHERE id = ?'),
      destinations: db.prepare('SELECT DISTINCT destination FROM dead_letters WHERE destination = ? LIMIT 1'),
    }
  }

  /** The destinations of a selection, each with the listed rows. */
  divide(selection: LetterSelection, destinationIds: readonly string[]): Map<number, readonly number[] | null> {
    const known = destinationIds.flatMap((id) => this.#names.find(id) ?? [])
    if ('filter' in selection) {
      const { destinationId } = selection.filter
      const wanted = destinationId === undefined ? known : known.filter((id) => id === this.#names.find(destinationId))
      const dead = wanted.filter((id) => this.#statements.destinations.get(id) !== undefined || this.#ranges.hasAny(id))
      return new Map(dead.map((id) => [id, null]))
    }
    const rows = [...new Set(selection.ids)]
      .flatMap((id) => this.#namedRow(id) ?? [])
      .filter(({ destination }) => known.includes(destination))
      .sort(compareLetters)
    const parts = Map.groupBy(rows, ({ destination }) => destination)
    return new Map([...parts].map(([destination, letters]) => [destination, letters.map(({ id }) => id)]))
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
    const rows: number[] = []
    let at = from
    while (at < letters.length && rows.length < limit) {
      const id = letters[at++]!
      const letter = (this.#statements.state.get(id) as { state: number } | undefined) ?? this.#ranges.get(id)
      if (letter?.state === OPEN) rows.push(id)
    }
    return { rows, place: [at], isAtEnd: at === letters.length }
  }

  #walk({ destination, filter, lastLetter }: LetterPart, after: PartPlace, limit: number): PartStep {
    const isWanted = letterJudge(filter, soughtNames(filter, this.#names))
    const { walk, walkWithEvent } = this.#statements
    const { partition, offset, idx, id } = standOf(after)
    const hasEvents = needsPayload(filter)
    const found = (hasEvents ? walkWithEvent : walk).iterate(destination, partition, offset, idx, id)
    const packed = this.#ranges.byPlace(destination, after, hasEvents)
    const rows: number[] = []
    let place = after
    let lookedAt = 0
    for (const row of mergedBy(found as unknown as Iterable<WalkedRow>, packed, (a, b) => compareLetters(a, b) < 0)) {
      if (rows.length >= limit || lookedAt >= MAX_LOOKED_AT) return { rows, place, isAtEnd: false }
      lookedAt++
      place = [row.partition, row.offset, row.idx, row.id]
      if (row.state === OPEN && row.id <= lastLetter && isWanted(row)) rows.push(row.id)
    }
    return { rows, place, isAtEnd: true }
  }
}

interface NamedRow extends LetterStand {
  readonly destination: number
  readonly dead_at: number
}

interface WalkedRow extends JudgedLetter, LetterStand {
  readonly state: number
}
