import type { LetterPlace } from './letter-block.ts'

/** A letter in a range, with the columns that it would have as a row. */
export interface RangeLetter {
  readonly id: number
  readonly destination: number
  readonly source: number
  readonly partition: number
  readonly offset: number
  readonly idx: number
  readonly state: number
  readonly stage: number
  readonly reason: number
  readonly accepted_at: number
  readonly dead_at: number
  readonly attempts: 0
  readonly last_status: number
  readonly last_answer: number | null
  readonly revision: number
  readonly state_at: number
  readonly requests: null
  readonly event: string
  readonly end_reason: number | null
  readonly replay: null
  readonly wait: null
}

/** A row of letter_ranges: the shared fields of its letters, and which of them have left it. */
export interface RangeRow {
  readonly first: number
  readonly last: number
  readonly destination: number
  readonly source: number
  readonly partition: number
  readonly first_offset: number
  readonly last_offset: number
  readonly state: number
  readonly stage: number
  readonly reason: number
  readonly dead_at: number
  readonly last_status: number
  readonly last_answer: number | null
  readonly revision: number
  readonly state_at: number
  readonly end_reason: number | null
  letters: number
  event_bytes: number
  /** One bit per letter, by its index in the range. */
  readonly gone: Uint8Array
}

/** The letter with index `i` in its range. */
export function letterOf(range: RangeRow, place: LetterPlace, i: number, event: string): RangeLetter {
  const { destination, source, partition, state, stage, reason, dead_at, last_status, last_answer, revision } = range
  return {
    id: range.first + i,
    destination,
    source,
    partition,
    offset: place.offset,
    idx: place.index,
    state,
    stage,
    reason,
    accepted_at: place.acceptedAt,
    dead_at,
    attempts: 0,
    last_status,
    last_answer,
    revision,
    state_at: range.state_at,
    requests: null,
    event,
    end_reason: range.end_reason,
    replay: null,
    wait: null,
  }
}

export function isGone({ gone }: RangeRow, i: number): boolean {
  return (gone[i >> 3]! & (1 << (i & 7))) !== 0
}

/** Marks in the row that a letter has left its range. */
export function takeOut(range: RangeRow, i: number, event: string): void {
  range.gone[i >> 3]! |= 1 << (i & 7)
  range.letters--
  range.event_bytes -= Buffer.byteLength(event)
}
