import { decodeHashes } from '@millrace/protocol/record'
import {
  ATTEMPT_KINDS,
  type AttemptEntry,
  type AttemptKind,
  Attempts,
  MAX_ATTEMPT_EVENTS,
} from '../../dedup/attempts.ts'
import { addEntries, CommitDedup } from '../../dedup/commit-dedup.ts'
import type { DecidedCommit } from '../../dedup/decided-commit.ts'
import { DEDUP_ENTRY_BYTES, DedupWindow, MAX_DEDUP_ENTRIES } from '../../dedup/dedup-window.ts'
import { KEY_BYTES } from '../../dedup/key-bytes.ts'
import { MAX_DEDUP_WINDOW_MS } from '../../dedup.ts'
import type { Offset } from '../../event-log.ts'
import type { Commit } from '../segments/commit.ts'

/** The keys that the segments hold. */
export interface StoredKeys {
  newestFirst(): Iterable<SegmentKeysReader>
}

/** Reads the keys of a segment, in commit order. */
export interface SegmentKeysReader {
  /** Offset of its first record. */
  readonly first: Offset
  /** When its last record was accepted; undefined without records. */
  readonly newestAt: number | undefined
  windowEntries(): readonly Uint8Array[]
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
    this.#window ??= readWindow(recent(this.#stored.newestFirst()))
  }

  loadAttempts(): void {
    if (this.#attempts !== undefined) return
    this.#attempts = new Attempts()
    for (const entry of readAttempts(recent(this.#stored.newestFirst()))) this.#attempts.add(entry)
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

/** The segments that may have keys of the last day: twice as many, in case the clock was changed. */
function* recent(newestFirst: Iterable<SegmentKeysReader>): Generator<SegmentKeysReader> {
  let latest = Number.NEGATIVE_INFINITY
  for (const segment of newestFirst) {
    const at = segment.newestAt ?? latest
    latest = Math.max(latest, at)
    if (at < latest - 2 * MAX_DEDUP_WINDOW_MS) return
    yield segment
  }
}

/** Reads until the window is full, then adds the entries in commit order. */
function readWindow(newestFirst: Iterable<SegmentKeysReader>): DedupWindow {
  const found: (readonly Uint8Array[])[] = []
  let entries = 0
  for (const segment of newestFirst) {
    const parts = segment.windowEntries()
    found.push(parts)
    for (const { length } of parts) entries += length / DEDUP_ENTRY_BYTES
    if (entries >= MAX_DEDUP_ENTRIES) break
  }
  const window = new DedupWindow(MAX_DEDUP_WINDOW_MS, MAX_DEDUP_ENTRIES, entries)
  for (const part of found.reverse().flat()) addEntries(window, part)
  return window
}

/** Reads until there are enough keys of each kind. @returns them in commit order. */
function readAttempts(newestFirst: Iterable<SegmentKeysReader>): AttemptEntry[] {
  const found: AttemptEntry[] = []
  const counts: Record<AttemptKind, number> = { exit: 0, first: 0 }
  const isWanted = (kind: AttemptKind) => counts[kind] < MAX_ATTEMPT_EVENTS
  for (const segment of newestFirst) {
    const entries = segment.attemptEntries().filter(({ kind }) => isWanted(kind))
    for (const entry of entries) found.push(entry)
    // Retention may have copied keys into it that are older than those of the next segments.
    const own = entries.filter(({ first }) => first >= segment.first)
    for (const { kind, keys } of own) counts[kind] += keys.length / KEY_BYTES
    if (!ATTEMPT_KINDS.some(isWanted)) break
  }
  return found.sort((one, other) => one.first - other.first)
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
