import { type BatchAttempt, MAX_DEDUP_WINDOW_MS } from '../dedup.ts'
import { DedupWindow } from './dedup-window.ts'

/** Keys of exit batches (and of events stored by a repeat), and keys of other first attempts. */
export const ATTEMPT_KINDS = ['exit', 'first'] as const
export type AttemptKind = (typeof ATTEMPT_KINDS)[number]

/** Events that a repeat stored are remembered as those of an exit batch. */
export function kindOf(attempt: BatchAttempt): AttemptKind {
  return attempt === 'first' ? 'first' : 'exit'
}

/** Of each kind. */
export const MAX_ATTEMPT_EVENTS = 1_000_000
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

export type NewWindow = (kind: AttemptKind | 'repeated', keepMs: number) => DedupWindow

/** Finds the last acceptance time of a key; undefined if unknown. */
export type KeyLookup = Pick<DedupWindow, 'acceptedAt'>

/**
 * Keys of events that a sender may send again because it did not see the answer. Keys of first attempts do not evict keys
 * of exit batches: every exit batch is repeated, but few first attempts are.
 *
 * @see decision 0085
 */
export class Attempts {
  readonly #known: Record<AttemptKind, DedupWindow>
  /** All keys of recent repeats, also of events that they did not store. */
  readonly #repeated: DedupWindow
  #lastRepeatAt = Number.NEGATIVE_INFINITY

  /** @param newWindow makes the memory of keys of one kind, which keeps each of them for a time. */
  constructor(newWindow: NewWindow = (_kind, keepMs) => new DedupWindow(keepMs, MAX_ATTEMPT_EVENTS)) {
    const known = (kind: AttemptKind) => newWindow(kind, MAX_DEDUP_WINDOW_MS)
    this.#known = { exit: known('exit'), first: known('first') }
    this.#repeated = newWindow('repeated', LATE_MS)
  }

  get size(): number {
    return this.#known.exit.size + this.#known.first.size
  }

  /**
   * Where to look up the keys of an attempt; undefined if it is not checked for duplicates. A repeat is checked against
   * all keys. Other attempts may have come later than their own repeat: they are checked against recent repeats.
   */
  lookupFor(attempt: BatchAttempt, acceptedAt: number): KeyLookup | undefined {
    if (attempt === 'repeat') return this
    return acceptedAt - this.#lastRepeatAt < LATE_MS ? this.#repeated : undefined
  }

  /** Last acceptance time of a key; undefined if unknown. */
  acceptedAt(low: number, high: number): number | undefined {
    return this.#known.exit.acceptedAt(low, high) ?? this.#known.first.acceptedAt(low, high)
  }

  add({ kind, acceptedAt, keys }: AttemptEntry): void {
    addKeys(this.#known[kind], keys, acceptedAt)
  }

  /** Notes a repeat: its first attempt may still arrive. @param keys of all its events. */
  noteRepeat(acceptedAt: number, keys: Uint8Array): void {
    this.#lastRepeatAt = acceptedAt
    addKeys(this.#repeated, keys, acceptedAt)
  }
}

function addKeys(window: DedupWindow, keys: Uint8Array, acceptedAt: number): void {
  const { buffer, byteOffset, byteLength } = keys
  const view = new DataView(buffer, byteOffset, byteLength)
  for (let at = 0; at < byteLength; at += 8) {
    window.add(view.getUint32(at, true), view.getUint32(at + 4, true), acceptedAt)
  }
}
