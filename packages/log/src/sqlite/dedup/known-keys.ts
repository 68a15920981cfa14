import { decodeHashes } from '@millrace/protocol/record'
import { type AttemptEntry, Attempts } from '../../dedup/attempts.ts'
import { addEntries, CommitDedup, lastAcceptedAt } from '../../dedup/commit-dedup.ts'
import type { DecidedCommit } from '../../dedup/decided-commit.ts'
import { DEDUP_ENTRY_BYTES, DedupWindow, MAX_DEDUP_ENTRIES } from '../../dedup/dedup-window.ts'
import { MAX_DEDUP_WINDOW_MS } from '../../dedup.ts'
import type { Offset } from '../../event-log.ts'
import type { Commit } from '../segments/commit.ts'

/** The keys that the segments hold. */
export interface StoredKeys {
  /** Window entries of each segment in commit order, newest segment first. */
  windowEntries(): Iterable<readonly Uint8Array[]>
  attemptEntries(): readonly AttemptEntry[]
}

/** The keys of recent events, as of the last commit. They are read from the segments on first use. */
export class KnownKeys {
  readonly #stored: StoredKeys
  readonly #dedup = new CommitDedup()
  #window: DedupWindow | undefined
  #attempts: Attempts | undefined

  constructor(stored: StoredKeys) {
    this.#stored = stored
  }

  /** Whether a restart needs keys of the dedup window. */
  get hasWindowKeys(): boolean {
    return this.#window !== undefined && this.#window.size > 0
  }

  loadWindow(): void {
    this.#window ??= readWindow(this.#stored.windowEntries())
  }

  loadAttempts(): void {
    if (this.#attempts !== undefined) return
    this.#attempts = new Attempts()
    // Retention may have copied older keys into a newer segment.
    const entries = [...this.#stored.attemptEntries()].sort((one, other) => one.first - other.first)
    for (const entry of entries) this.#attempts.add(entry)
  }

  /** Finds the duplicates of a commit. @param first its offset. */
  decide(first: Offset, { entries }: Commit): DecidedCommit {
    const rules = entries.flatMap(({ rule }) => rule ?? [])
    if (rules.some((rule) => 'windowMs' in rule)) this.loadWindow()
    // Before the first repeat, the keys need not be in memory.
    if (rules.some((rule) => 'attempt' in rule && rule.attempt === 'repeat')) this.loadAttempts()
    return this.#dedup.decide({ window: this.#window, attempts: this.#attempts }, first, entries)
  }

  /** Adds the keys of a commit that is on disk: clients send the events of a failed one again. */
  committed(decided: DecidedCommit): void {
    if (this.#window !== undefined) addEntries(this.#window, decided.entries)
    if (this.#attempts === undefined) return
    for (const entry of decided.attempts) this.#attempts.add(entry)
    if (decided.repeated) this.#attempts.noteRepeat(decided.repeated.acceptedAt, decided.repeated.keys)
  }
}

/** Reads until the window is full, then adds the entries in commit order. */
function readWindow(newestFirst: Iterable<readonly Uint8Array[]>): DedupWindow {
  const found: (readonly Uint8Array[])[] = []
  let entries = 0
  let newestAt = Number.NEGATIVE_INFINITY
  for (const parts of newestFirst) {
    const at = lastAcceptedAt(parts)
    newestAt = Math.max(newestAt, at)
    // Twice as far back as needed, in case the clock was changed.
    if (at < newestAt - 2 * MAX_DEDUP_WINDOW_MS || entries >= MAX_DEDUP_ENTRIES) break
    found.push(parts)
    for (const { length } of parts) entries += length / DEDUP_ENTRY_BYTES
  }
  const window = new DedupWindow(MAX_DEDUP_WINDOW_MS, MAX_DEDUP_ENTRIES, entries)
  for (const part of found.reverse().flat()) addEntries(window, part)
  return window
}

/** The tallies of a commit without its duplicates. */
export function withoutDuplicates(
  { entries, tallies }: Commit,
  duplicates: DecidedCommit['duplicates'],
): Commit['tallies'] {
  const fewer = new Map<string, number>()
  for (const [place, indexes] of duplicates) {
    const { stream, bytes } = entries[place]!
    const key = `${stream} ${decodeHashes(bytes).sourceId}`
    fewer.set(key, (fewer.get(key) ?? 0) + indexes.length)
  }
  return tallies.map(({ stream, counts }) => ({
    stream,
    counts: counts.map(([sourceId, events, bytes]): [string, number, number] => [
      sourceId,
      events - (fewer.get(`${stream} ${sourceId}`) ?? 0),
      bytes,
    ]),
  }))
}
