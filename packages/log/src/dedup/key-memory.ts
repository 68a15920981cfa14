import { MAX_ATTEMPT_EVENTS } from './attempts.ts'
import { DedupWindow, MAX_DEDUP_ENTRIES } from './dedup-window.ts'

/** `window`: events of sources with a window. `repeated`: all events of repeats. */
export const KEY_KINDS = ['window', 'exit', 'first', 'repeated'] as const
export type KeyKind = (typeof KEY_KINDS)[number]

/** The keys of all shards of a process, with the limits that one log has for all its keys. */
export class KeyMemory {
  readonly #limits: ReadonlyMap<KeyKind, SharedLimit>

  /** @param maxOf most keys of each kind; above it the oldest of them leaves, whichever shard it belongs to. */
  constructor(
    maxOf: (kind: KeyKind) => number = (kind) => (kind === 'window' ? MAX_DEDUP_ENTRIES : MAX_ATTEMPT_EVENTS),
  ) {
    this.#limits = new Map(KEY_KINDS.map((kind) => [kind, new SharedLimit(maxOf(kind))]))
  }

  /**
   * @param keepMs how long each key is kept.
   * @param expected number of keys that are added at once.
   */
  window(kind: KeyKind, keepMs: number, expected = 0): DedupWindow {
    return this.#limits.get(kind)!.window(keepMs, expected)
  }

  /** The keys of these windows leave. */
  drop(windows: Iterable<DedupWindow>): void {
    for (const window of windows) for (const limit of this.#limits.values()) limit.drop(window)
  }

  size(kind: KeyKind): number {
    return this.#limits.get(kind)!.size
  }
}

class SharedLimit {
  readonly #maxEntries: number
  readonly #windows = new Set<DedupWindow>()
  size = 0

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  window(keepMs: number, expected: number): DedupWindow {
    const window = new SharedWindow(keepMs, this.#maxEntries, expected, (more) => this.#add(more))
    this.#windows.add(window)
    return window
  }

  drop(window: DedupWindow): void {
    if (this.#windows.delete(window)) this.size -= window.size
  }

  #add(more: number): void {
    this.size += more
    for (; this.size > this.#maxEntries; this.size--) this.#evict()
  }

  #evict(): void {
    let oldest: DedupWindow | undefined
    for (const window of this.#windows) {
      if (oldest === undefined || window.oldestAt < oldest.oldestAt) oldest = window
    }
    oldest!.evictOldest()
  }
}

class SharedWindow extends DedupWindow {
  readonly #onSize: (more: number) => void

  constructor(keepMs: number, maxEntries: number, expected: number, onSize: (more: number) => void) {
    super(keepMs, maxEntries, expected)
    this.#onSize = onSize
  }

  override add(low: number, high: number, at: number): void {
    const before = this.size
    super.add(low, high, at)
    this.#onSize(this.size - before)
  }
}
