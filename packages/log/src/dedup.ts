import { writeHash64 } from '@millrace/protocol/hash'
import { MESSAGE_HASH_BYTES, type RecordHeader } from '@millrace/protocol/record'

/** Longest window of a source, and retention of the keys of an attempt. */
export const MAX_DEDUP_WINDOW_MS = 86_400_000

/**
 * Attempt number of a batch. `exit`: the sender is closing and will not see the answer. `first`: the sender may miss the
 * answer. `repeat`: some of its events may already be stored.
 */
export const ATTEMPTS = ['exit', 'first', 'repeat'] as const
export type BatchAttempt = (typeof ATTEMPTS)[number]

/** Rule of a source with a window: a messageId accepted less than this ago is a duplicate. 0 < windowMs ≤ one day. */
export interface WindowRule {
  readonly windowMs: number
}

/**
 * Rule of a source without a window: the log remembers the batch's keys for a day, and an event of a repeat with a remembered
 * key is a duplicate. It remembers at most 1,000,000 keys each of exits and firsts; keys stored by a repeat count as exits.
 */
export interface AttemptRule {
  readonly attempt: BatchAttempt
}

export type DedupRule = WindowRule | AttemptRule

/** A rule as a number: 0 for none, 1 to 3 for the index of an attempt in ATTEMPTS plus one, else the window in milliseconds plus 3. */
export function numberOfRule(rule: DedupRule | undefined): number {
  if (rule === undefined) return 0
  return 'windowMs' in rule ? rule.windowMs + ATTEMPTS.length : ATTEMPTS.indexOf(rule.attempt) + 1
}

export function ruleOfNumber(number: number): DedupRule | undefined {
  if (number === 0) return undefined
  const attempt = ATTEMPTS[number - 1]
  return attempt === undefined ? { windowMs: number - ATTEMPTS.length } : { attempt }
}

/** How an append treats events with a messageId that the source has already sent. */
export type Dedup = DedupRule & {
  /** Called with the indexes of the duplicates in the record before the append resolves; not called without duplicates. */
  readonly onDuplicates?: (indexes: readonly number[]) => void
}

/** A stored record with its rule, in engines whose readers decide. */
export interface RuledRecord {
  readonly offset: number
  readonly bytes: Uint8Array
  readonly rule: DedupRule
}

export interface RulesRead {
  /** Only records that have a rule. */
  readonly records: readonly RuledRecord[]
  /** Offset for the next read; that of this one at the end of the partition. */
  readonly next: number
}

/** Which events are duplicates, for engines whose readers decide. */
export interface DuplicateMarks {
  /** Indexes of duplicates as u16, by offset; only records that have some. */
  of(
    partition: number,
    offsets: readonly number[],
  ): ReadonlyMap<number, Uint8Array> | Promise<ReadonlyMap<number, Uint8Array>>
}

const sourceHash = Buffer.alloc(8)

/** Calls back with the deduplication key of each event of a record: 8 bytes as two numbers, with the source's id mixed in. */
export function forEachDedupKey(
  { sourceId, messageHashes }: Pick<RecordHeader, 'sourceId' | 'messageHashes'>,
  visit: (low: number, high: number, index: number) => void,
): void {
  const { buffer, byteOffset, byteLength } = messageHashes
  const hashes = new DataView(buffer, byteOffset, byteLength)
  writeHash64(sourceId, sourceHash, 0)
  const sourceLow = sourceHash.readUInt32LE(0)
  const sourceHigh = sourceHash.readUInt32LE(4)
  for (let at = 0; at < byteLength; at += MESSAGE_HASH_BYTES) {
    const low = hashes.getUint32(at, true) ^ sourceLow
    const high = hashes.getUint32(at + 4, true) ^ sourceHigh
    visit(low >>> 0, high >>> 0, at / MESSAGE_HASH_BYTES)
  }
}
