import type { PartPlace } from '../../job-store.ts'

/** Where a dead letter stands in the order in which dead letters are replayed: that of their places in the log. */
export interface LetterStand {
  readonly partition: number
  readonly offset: number
  readonly idx: number
  /** One event may have been given up several times. */
  readonly id: number
}

/** Negative where the first goes before the other. */
export function compareLetters(a: LetterStand, b: LetterStand): number {
  return a.partition - b.partition || a.offset - b.offset || a.idx - b.idx || a.id - b.id
}

/** The last one that a walk has looked at; before all of them while it has not begun. */
export function standOf([partition = -1, offset = -1, idx = -1, id = -1]: PartPlace): LetterStand {
  return { partition, offset, idx, id }
}
