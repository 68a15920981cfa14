import type { DeadLetterFilter } from '../dead-letter-store.ts'
import type { PartPlace } from '../job-store.ts'
import { compareLetters, type LetterStand } from '../letters/letter-order.ts'

/** Maximum of dead letters that one call reads: outcomes wait for it. */
export const MAX_LOOKED_AT = 5_000

/** The selection of a part of a job over dead letters. */
export interface LetterPart {
  readonly destination: number
  readonly partition: number
  readonly filter: DeadLetterFilter
  /** The job excludes later dead letters. */
  readonly lastLetter: number
  /** Row ids, if the request listed some. */
  readonly letters: readonly number[] | null
}

/** A part of a stored job, and how far it has come. */
export interface PlacedPart extends LetterPart {
  readonly job: number
  readonly place: PartPlace
  readonly isAtEnd: boolean
}

export interface PartStep {
  /** Row ids of open dead letters, in the order in which their events were accepted. */
  readonly ids: readonly number[]
  readonly place: PartPlace
  readonly isAtEnd: boolean
  /** Number of dead letters that were read. */
  readonly lookedAt: number
}

/** A part of a new job: with the listed row ids, or null for a filter. */
export interface DividedPart {
  readonly destination: number
  readonly partition: number
  readonly letters: readonly number[] | null
}

/** A part as both engines store it; a flag is a number in SQLite. */
export interface StoredPart {
  readonly job: number
  readonly destination: number
  readonly partition: number
  readonly letters: string | null
  readonly place: string
  readonly is_at_end: boolean | number
  readonly filter: string | null
  readonly last_letter: number
}

export function placedPartOf(row: StoredPart): PlacedPart {
  return {
    job: row.job,
    destination: row.destination,
    partition: row.partition,
    isAtEnd: Boolean(row.is_at_end),
    filter: row.filter === null ? {} : (JSON.parse(row.filter) as DeadLetterFilter),
    lastLetter: row.last_letter,
    letters: row.letters === null ? null : (JSON.parse(row.letters) as number[]),
    place: JSON.parse(row.place) as number[],
  }
}

/** The parts of listed dead letters: one for each destination and partition, with its letters in order. */
export function partsOfLetters(letters: readonly (LetterStand & { readonly destination: number })[]): DividedPart[] {
  const sorted = letters.toSorted(compareLetters)
  const parts = Map.groupBy(sorted, ({ destination, partition }) => `${destination} ${partition}`)
  return [...parts.values()].map((of) => {
    const { destination, partition } = of[0]!
    return { destination, partition, letters: of.map(({ id }) => id) }
  })
}
