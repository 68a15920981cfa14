import { type BatchAttempt, MAX_DEDUP_WINDOW_MS } from '../../dedup.ts'
import { DedupWindow } from './dedup-window.ts'

/** Keys of exit batches (and of events stored by a repeat), and keys of other first attempts. */
export const ATTEMPT_KINDS = ['exit', 'first'] as const
export type AttemptKind = (typeof ATTEMPT_KINDS)[number]

const MAX_EVENTS = 1_000_000
/** A delayed request may arrive up to this long after its repeat. */
const LATE_MS = 600_000

/** Remembered keys of one commit as stored: 8 bytes each. */
export interface AttemptEntry {
  /** Offset of the commit's first record. */
  readonly first: number
  readonly kind: AttemptKind
  readonly acceptedAt: number
  readonly keys: Uint8Array
}

/**
 * Keys of events that a sender may send again because it did not see the answer. Keys of first attempts do not evict keys
 * of exit batches: every exit batch is repeated, but few first attempts are.
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

  /** Whether to check this attempt for duplicates: repeats, and for a while after a repeat, attempts that may be late. */
  isLookedUp(attempt: BatchAttempt, acceptedAt: number): boolean {
    return attempt === 'repeat' || acceptedAt - this.#lastRepeatAt < LATE_MS
  }

  /** Last acceptance time of a key; undefined if unknown. */
  acceptedAt(low: number, high: number): number | undefined {
    return this.#known.exit.acceptedAt(low, high) ?? this.#known.first.acceptedAt(low, high)
  }

  add({ kind, acceptedAt, keys }: AttemptEntry): void {
    const view = new DataView(keys.buffer, keys.byteOffset, keys.byteLength)
    for (let at = 0; at < keys.byteLength; at += 8) {
      this.#known[kind].add(view.getUint32(at, true), view.getUint32(at + 4, true), acceptedAt)
    }
  }

  /** Notes a repeat: its first attempt may still arrive. */
  noteRepeat(acceptedAt: number): void {
    this.#lastRepeatAt = acceptedAt
  }
}
