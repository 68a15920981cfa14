import { type BatchAttempt, MAX_DEDUP_WINDOW_MS } from '../../dedup.ts'
import { DedupWindow } from './dedup-window.ts'

/** Events that came with an exit batch (or were stored by a repeat), and those of other first attempts. */
export const ATTEMPT_KINDS = ['exit', 'first'] as const
export type AttemptKind = (typeof ATTEMPT_KINDS)[number]

const MAX_EVENTS = 1_000_000
/** A request that the network has held back may come after its own repeat, by this much. */
const LATE_MS = 600_000

/** Events of one commit that are remembered, as they are written: 8 bytes each. */
export interface AttemptEntry {
  /** Offset of the commit's first record. */
  readonly first: number
  readonly kind: AttemptKind
  readonly acceptedAt: number
  readonly keys: Uint8Array
}

/**
 * The events that a sender may send again because it did not see the answer. First attempts do not push out those of exit
 * batches: each of these is repeated, of the others only a few.
 *
 * @see decision 0085
 */
export class Attempts {
  readonly #known: Record<AttemptKind, DedupWindow>
  #lastRepeatAt = Number.NEGATIVE_INFINITY

  constructor(maxEvents = MAX_EVENTS) {
    const memory = () => new DedupWindow(MAX_DEDUP_WINDOW_MS, maxEvents)
    this.#known = { exit: memory(), first: memory() }
  }

  get size(): number {
    return this.#known.exit.size + this.#known.first.size
  }

  /** Whether events of this attempt are looked up: those of a repeat, and for a while after one those that may come late. */
  isLookedUp(attempt: BatchAttempt, acceptedAt: number): boolean {
    return attempt === 'repeat' || acceptedAt - this.#lastRepeatAt < LATE_MS
  }

  /** When an event was remembered last; undefined if it is not known. */
  acceptedAt(low: number, high: number): number | undefined {
    return this.#known.exit.acceptedAt(low, high) ?? this.#known.first.acceptedAt(low, high)
  }

  add({ kind, acceptedAt, keys }: AttemptEntry): void {
    const view = new DataView(keys.buffer, keys.byteOffset, keys.byteLength)
    for (let at = 0; at < keys.byteLength; at += 8) {
      this.#known[kind].add(view.getUint32(at, true), view.getUint32(at + 4, true), acceptedAt)
    }
  }

  /** A repeat was stored: its first attempt may still be under way. */
  noteRepeat(acceptedAt: number): void {
    this.#lastRepeatAt = acceptedAt
  }
}
