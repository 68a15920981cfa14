import { decodeHashes } from '@millrace/protocol/record'
import { type DedupRule, forEachDedupKey, MAX_DEDUP_WINDOW_MS } from '../dedup.ts'
import { ATTEMPT_KINDS, type AttemptKind, type Attempts, kindOf } from './attempts.ts'
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
  /** All keys of the commit at hand. */
  readonly #keys = new KeyBytes()
  readonly #entries = new KeyBytes()
  readonly #remembered: Record<AttemptKind, KeyBytes> = { exit: new KeyBytes(), first: new KeyBytes() }
  readonly #repeated = new KeyBytes()

  /** @param first offset of the commit. */
  decide({ window, attempts }: KnownEvents, first: number, records: readonly DedupEntry[]): DecidedCommit {
    this.#added.clear()
    const duplicates = new Map<number, number[]>()
    const ruled = this.#read(records, window)
    const hasRepeat = ruled.some(({ rule }) => isRepeat(rule))
    let latestAt = 0
    for (const { place, rule, acceptedAt, firstKey, endKey } of ruled) {
      latestAt = Math.max(latestAt, acceptedAt)
      const isWindow = 'windowMs' in rule
      const windowMs = isWindow ? rule.windowMs : MAX_DEDUP_WINDOW_MS
      const known = isWindow ? window : attempts?.lookupFor(rule.attempt, acceptedAt)
      // Attempts of one commit are compared with each other if one of them is a repeat.
      const added = isWindow || hasRepeat ? this.#added : undefined
      const repeated = isRepeat(rule) ? this.#repeated : undefined
      const fresh = isWindow ? this.#entries : this.#remembered[kindOf(rule.attempt)]
      for (let key = firstKey; key < endKey; key++) {
        const low = this.#keys.low(key)
        const high = this.#keys.high(key)
        repeated?.addKey(low, high)
        const before = added?.acceptedAt(low, high) ?? known?.acceptedAt(low, high)
        if (before !== undefined && acceptedAt - before < windowMs) {
          const indexes = duplicates.get(place)
          if (indexes === undefined) duplicates.set(place, [key - firstKey])
          else indexes.push(key - firstKey)
        } else {
          added?.add(low, high, acceptedAt)
          fresh.addKey(low, high)
          if (isWindow) fresh.addTime(acceptedAt)
        }
      }
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

  /** Reads all keys before the first search, so that the window's memory is loaded for many of them at once. */
  #read(records: readonly DedupEntry[], window: DedupWindow | undefined): RuledKeys[] {
    this.#keys.clear()
    const ruled: RuledKeys[] = []
    for (const [place, { bytes, rule }] of records.entries()) {
      if (rule === undefined) continue
      const hashes = decodeHashes(bytes)
      const touched = 'windowMs' in rule ? window : undefined
      const firstKey = this.#keys.count
      forEachDedupKey(hashes, (low, high) => {
        this.#keys.addKey(low, high)
        touched?.touch(low)
      })
      ruled.push({ place, rule, acceptedAt: hashes.acceptedAt, firstKey, endKey: this.#keys.count })
    }
    return ruled
  }
}

/** The keys of one record, as places in the keys of the commit. */
interface RuledKeys {
  /** Of the record in the commit. */
  readonly place: number
  readonly rule: DedupRule
  readonly acceptedAt: number
  readonly firstKey: number
  readonly endKey: number
}

function isRepeat(rule: DedupRule): boolean {
  return 'attempt' in rule && rule.attempt === 'repeat'
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
