import { decodeRecord } from '@millrace/protocol'
import { type DedupRule, dedupKeys, MAX_DEDUP_WINDOW_MS } from '../../dedup.ts'
import { ATTEMPT_KINDS, type AttemptEntry, type AttemptKind, type Attempts } from './attempts.ts'
import { DEDUP_ENTRY_BYTES, DedupWindow } from './dedup-window.ts'

const KEY_BYTES = 8

/** Deduplication result of a commit, before it is written. */
export interface DecidedCommit {
  /** Indexes of duplicates by the record's place in the commit; only records with duplicates. */
  readonly duplicates: ReadonlyMap<number, readonly number[]>
  /** Keys of the other events of sources with a window, written with the records. */
  readonly entries: Buffer
  /** Keys of the other events of attempts, written with the records. */
  readonly attempts: readonly AttemptEntry[]
  readonly hasRepeat: boolean
}

/** Recent keys before the commit. */
export interface KnownEvents {
  /** Set if a record of the commit has a window. */
  readonly window: DedupWindow | undefined
  /** Set once a repeat has arrived. */
  readonly attempts: Attempts | undefined
}

export interface RecordToDecide {
  /** Place in the commit. */
  readonly place: number
  readonly bytes: Uint8Array
  readonly rule: DedupRule
}

/**
 * Finds the duplicates in a commit: of earlier events, also within the commit.
 *
 * @param first offset of the commit. @param records that have a rule, in order.
 */
export function decideCommit(
  { window, attempts }: KnownEvents,
  first: number,
  records: readonly RecordToDecide[],
): DecidedCommit {
  const duplicates = new Map<number, number[]>()
  const entries: Buffer[] = []
  const remembered: Record<AttemptKind, Buffer[]> = { exit: [], first: [] }
  /** Keys of this commit; the next commit sees them once this one is stored. */
  let added: DedupWindow | undefined
  const hasRepeat = records.some(({ rule }) => 'attempt' in rule && rule.attempt === 'repeat')
  let latestAt = 0
  for (const { place, bytes, rule } of records) {
    const record = decodeRecord(bytes)
    const { acceptedAt } = record.header
    latestAt = Math.max(latestAt, acceptedAt)
    const keys = dedupKeys(record)
    const isWindow = 'windowMs' in rule
    const isLookedUp = isWindow || hasRepeat || attempts?.isLookedUp(rule.attempt, acceptedAt) === true
    const known = isWindow ? window : attempts
    const windowMs = isWindow ? rule.windowMs : MAX_DEDUP_WINDOW_MS
    if (isLookedUp) added ??= new DedupWindow(Number.POSITIVE_INFINITY)
    const indexes = added && isLookedUp ? duplicatesAmong(keys, acceptedAt, known, added, windowMs) : []
    if (indexes.length > 0) duplicates.set(place, indexes)
    const fresh = indexes.length === 0 ? keys : withoutKeys(keys, indexes)
    if (isWindow) entries.push(windowEntries(fresh, acceptedAt))
    else remembered[rule.attempt === 'first' ? 'first' : 'exit'].push(fresh)
  }
  const attemptEntries = ATTEMPT_KINDS.map((kind) => ({
    first,
    kind,
    acceptedAt: latestAt,
    keys: Buffer.concat(remembered[kind]),
  })).filter(({ keys }) => keys.length > 0)
  return { duplicates, entries: Buffer.concat(entries), attempts: attemptEntries, hasRepeat }
}

function duplicatesAmong(
  keys: Buffer,
  acceptedAt: number,
  known: Pick<DedupWindow, 'acceptedAt'> | undefined,
  added: DedupWindow,
  windowMs: number,
): number[] {
  const indexes: number[] = []
  for (let at = 0; at < keys.length; at += KEY_BYTES) {
    const low = keys.readUInt32LE(at)
    const high = keys.readUInt32LE(at + 4)
    const before = added.acceptedAt(low, high) ?? known?.acceptedAt(low, high)
    if (before !== undefined && acceptedAt - before < windowMs) indexes.push(at / KEY_BYTES)
    else added.add(low, high, acceptedAt)
  }
  return indexes
}

function withoutKeys(keys: Buffer, indexes: readonly number[]): Buffer {
  const left = new Set(indexes)
  const kept: Buffer[] = []
  for (let at = 0; at < keys.length; at += KEY_BYTES) {
    if (!left.has(at / KEY_BYTES)) kept.push(keys.subarray(at, at + KEY_BYTES))
  }
  return Buffer.concat(kept)
}

function windowEntries(keys: Buffer, acceptedAt: number): Buffer {
  const entries = Buffer.allocUnsafe((keys.length / KEY_BYTES) * DEDUP_ENTRY_BYTES)
  for (let from = 0, to = 0; from < keys.length; from += KEY_BYTES, to += DEDUP_ENTRY_BYTES) {
    keys.copy(entries, to, from, from + KEY_BYTES)
    entries.writeDoubleLE(acceptedAt, to + KEY_BYTES)
  }
  return entries
}

/** Adds entries that are on disk. */
export function addEntries(window: DedupWindow, bytes: Uint8Array): void {
  const entries = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at < entries.length; at += DEDUP_ENTRY_BYTES) {
    window.add(entries.readUInt32LE(at), entries.readUInt32LE(at + 4), entries.readDoubleLE(at + KEY_BYTES))
  }
}

/** Acceptance time of the last entry, which must exist. */
export function lastAcceptedAt(parts: readonly Uint8Array[]): number {
  const { buffer, byteOffset, byteLength } = parts.at(-1)!
  return new DataView(buffer).getFloat64(byteOffset + byteLength - 8, true)
}
