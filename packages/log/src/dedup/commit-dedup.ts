import { decodeRecord } from '@millrace/protocol/record'
import { type DedupRule, forEachDedupKey, MAX_DEDUP_WINDOW_MS } from '../dedup.ts'
import { ATTEMPT_KINDS, type AttemptKind, type Attempts, type KeyLookup, kindOf } from './attempts.ts'
import type { DecidedCommit } from './decided-commit.ts'
import { DEDUP_ENTRY_BYTES, DedupWindow } from './dedup-window.ts'
import { KEY_BYTES, KeyBytes } from './key-bytes.ts'

/** An encoded record with its rule; without one, none of its events is a duplicate. */
export interface DedupEntry {
  readonly bytes: Uint8Array
  readonly rule?: DedupRule | undefined
}

/** Recent keys before the commit. */
export interface KnownEvents {
  /** Set if a record of the commit has a window. */
  readonly window: DedupWindow | undefined
  /** Set once a repeat has arrived. */
  readonly attempts: Attempts | undefined
}

/** Finds the duplicates in commits: of earlier events, also within the commit. */
export class CommitDedup {
  /** Keys of the commit at hand: the next one sees them once they are stored. */
  readonly #added = new DedupWindow(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)
  readonly #entries = new KeyBytes()
  readonly #remembered: Record<AttemptKind, KeyBytes> = { exit: new KeyBytes(), first: new KeyBytes() }
  readonly #repeated = new KeyBytes()

  /** @param first offset of the commit. */
  decide({ window, attempts }: KnownEvents, first: number, records: readonly DedupEntry[]): DecidedCommit {
    this.#added.clear()
    const duplicates = new Map<number, number[]>()
    const hasRepeat = records.some(({ rule }) => isRepeat(rule))
    let latestAt = 0
    for (const [place, { bytes, rule }] of records.entries()) {
      if (rule === undefined) continue
      const record = decodeRecord(bytes)
      const { acceptedAt } = record.header
      latestAt = Math.max(latestAt, acceptedAt)
      const isWindow = 'windowMs' in rule
      const known = isWindow ? window : attempts?.lookupFor(rule.attempt, acceptedAt)
      // Attempts of one commit are compared with each other if one of them is a repeat.
      const added = isWindow || hasRepeat ? this.#added : undefined
      const isKnown = isDuplicateOf(known, added, acceptedAt, isWindow ? rule.windowMs : MAX_DEDUP_WINDOW_MS)
      const repeated = isRepeat(rule) ? this.#repeated : undefined
      const fresh = isWindow ? this.#entries : this.#remembered[kindOf(rule.attempt)]
      const indexes: number[] = []
      if (isWindow && window !== undefined) forEachDedupKey(record, (low) => window.touch(low))
      forEachDedupKey(record, (low, high, index) => {
        repeated?.addKey(low, high)
        if (isKnown(low, high)) {
          indexes.push(index)
        } else {
          added?.add(low, high, acceptedAt)
          fresh.addKey(low, high)
          if (isWindow) fresh.addTime(acceptedAt)
        }
      })
      if (indexes.length > 0) duplicates.set(place, indexes)
    }
    const attemptEntries = ATTEMPT_KINDS.map((kind) => ({
      first,
      kind,
      acceptedAt: latestAt,
      keys: this.#remembered[kind].take(),
    })).filter(({ keys }) => keys.length > 0)
    const repeated = this.#repeated.take()
    return {
      duplicates,
      entries: this.#entries.take(),
      attempts: attemptEntries,
      repeated: hasRepeat ? { acceptedAt: latestAt, keys: repeated } : undefined,
    }
  }
}

function isRepeat(rule: DedupRule | undefined): boolean {
  return rule !== undefined && 'attempt' in rule && rule.attempt === 'repeat'
}

function isDuplicateOf(
  known: KeyLookup | undefined,
  added: DedupWindow | undefined,
  acceptedAt: number,
  windowMs: number,
): (low: number, high: number) => boolean {
  if (known === undefined && added === undefined) return () => false
  return (low, high) => {
    const before = added?.acceptedAt(low, high) ?? known?.acceptedAt(low, high)
    return before !== undefined && acceptedAt - before < windowMs
  }
}

/** Adds entries that are on disk. */
export function addEntries(window: DedupWindow, { buffer, byteOffset, byteLength }: Uint8Array): void {
  const view = new DataView(buffer, byteOffset, byteLength)
  for (let at = 0; at < byteLength; at += DEDUP_ENTRY_BYTES) {
    window.add(view.getUint32(at, true), view.getUint32(at + 4, true), view.getFloat64(at + KEY_BYTES, true))
  }
}

/** Acceptance time of the last entry, which must exist. */
export function lastAcceptedAt(parts: readonly Uint8Array[]): number {
  const { buffer, byteOffset, byteLength } = parts.at(-1)!
  return new DataView(buffer).getFloat64(byteOffset + byteLength - 8, true)
}
