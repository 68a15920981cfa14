import type { PartPlace } from '../job-store.ts'

/** Position of a dead letter in the replay order, which is the order of places in the log. */
export interface LetterStand {
  readonly partition: number
  readonly offset: number
  readonly idx: number
  /** An event may have several dead letters. */
  readonly id: number
}

/** Negative if the first comes before the other. */
export function compareLetters(a: LetterStand, b: LetterStand): number {
  return a.partition - b.partition || a.offset - b.offset || a.idx - b.idx || a.id - b.id
}

/** The last dead letter that a walk through a partition has read; before all of them at the start of the walk. */
export function standOf(partition: number, [, offset = -1, idx = -1, id = -1]: PartPlace): LetterStand {
  return { partition, offset, idx, id }
}
