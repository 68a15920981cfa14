import { type DedupRule, MAX_DEDUP_WINDOW_MS } from '../dedup.ts'
import type { Offset } from '../event-log.ts'
import { Attempts } from './attempts.ts'
import { addEntries, CommitDedup, lastAcceptedAt } from './commit-dedup.ts'
import { DEDUP_ENTRY_BYTES, type DedupWindow } from './dedup-window.ts'
import { KEY_BYTES } from './key-bytes.ts'
import { KEY_KINDS, type KeyKind, type KeyMemory } from './key-memory.ts'

/** Keys of one kind, in the order of their records. */
export interface KeyEntries {
  readonly kind: KeyKind
  /** Acceptance time of the last one, ms since 1970. */
  readonly lastAt: number
  /** Of the kind `window`: each key with its time, 16 bytes (dedup-window.ts). Of other kinds: keys, 8 bytes; `lastAt` is their time. */
  readonly entries: Uint8Array
}

export function keyCount({ kind, entries }: Pick<KeyEntries, 'kind' | 'entries'>): number {
  return entries.length / (kind === 'window' ? DEDUP_ENTRY_BYTES : KEY_BYTES)
}

/** The keys of a shard: decides record by record, in the order of the log, which events are duplicates. */
export class ShardKeys {
  readonly #memory: KeyMemory
  readonly #dedup = new CommitDedup()
  readonly #windows: DedupWindow[] = []
  readonly #window: DedupWindow
  readonly #attempts: Attempts
  #unstored: KeyEntries[] = []
  #unstoredBytes = 0

  /** @param expected number of keys of windows that will be restored. */
  constructor(memory: KeyMemory, expected = 0) {
    this.#memory = memory
    const newWindow = (kind: KeyKind, keepMs: number) => {
      const window = memory.window(kind, keepMs, kind === 'window' ? expected : 0)
      this.#windows.push(window)
      return window
    }
    this.#window = newWindow('window', MAX_DEDUP_WINDOW_MS)
    this.#attempts = new Attempts(newWindow)
  }

  /** Adds stored keys; call it with the oldest first. */
  restore({ kind, lastAt, entries }: KeyEntries): void {
    if (kind === 'window') addEntries(this.#window, entries)
    else if (kind === 'repeated') this.#attempts.noteRepeat(lastAt, entries)
    else this.#attempts.add({ first: 0, kind, acceptedAt: lastAt, keys: entries })
  }

  /** Prepares restored keys for searches: the first one would take seconds for millions. */
  index(): void {
    for (const window of this.#windows) window.index()
  }

  /** @returns indexes of the record's duplicates. Its other events are known from here on. */
  decide(offset: Offset, record: { readonly bytes: Uint8Array; readonly rule: DedupRule }): readonly number[] {
    const known = { window: this.#window, attempts: this.#attempts }
    const { duplicates, entries, attempts, repeated } = this.#dedup.decide(known, offset, [record])
    if (entries.length > 0) this.#add({ kind: 'window', lastAt: lastAcceptedAt([entries]), entries })
    for (const { kind, acceptedAt, keys } of attempts) this.#add({ kind, lastAt: acceptedAt, entries: keys })
    if (repeated !== undefined) {
      this.#add({ kind: 'repeated', lastAt: repeated.acceptedAt, entries: repeated.keys })
    }
    return duplicates.get(0) ?? []
  }

  /** Bytes of the keys that are not stored yet. */
  get unstoredBytes(): number {
    return this.#unstoredBytes
  }

  /** Takes out the keys that are not stored yet, one part for each kind. */
  takeUnstored(): KeyEntries[] {
    const parts = Map.groupBy(this.#unstored, ({ kind }) => kind)
    this.#unstored = []
    this.#unstoredBytes = 0
    return KEY_KINDS.flatMap((kind) => {
      const ofKind = parts.get(kind)
      if (ofKind === undefined) return []
      const lastAt = Math.max(...ofKind.map((part) => part.lastAt))
      return [{ kind, lastAt, entries: Buffer.concat(ofKind.map(({ entries }) => entries)) }]
    })
  }

  /** Takes back keys that could not be stored. */
  putBack(parts: readonly KeyEntries[]): void {
    this.#unstored = [...parts, ...this.#unstored]
    this.#unstoredBytes += parts.reduce((sum, { entries }) => sum + entries.length, 0)
  }

  /** Frees the memory. */
  drop(): void {
    this.#memory.drop(this.#windows)
  }

  #add(part: KeyEntries): void {
    this.restore(part)
    this.#unstored.push(part)
    this.#unstoredBytes += part.entries.length
  }
}
