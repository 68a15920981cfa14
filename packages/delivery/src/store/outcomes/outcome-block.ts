import type { RuleReason } from '@millrace/protocol'

/** Why a filter left an event out, but for rules of a connection, which have numbers. The order is part of the format: append only. */
export const FILTER_REASONS = [
  'destination is disabled',
  'integrations',
  'device mode',
  'message type not supported',
  'event filter',
  'consent denied',
  'consent missing',
  'no connection rule',
  'no mapping matches',
] as const
export type FilterReason = (typeof FILTER_REASONS)[number] | RuleReason

/** An outcome that fits a block entry. */
export interface PlainOutcome {
  readonly offset: number
  readonly index: number
  readonly outcome: 'delivered' | 'filtered' | typeof DROPPED
  /** Only for a filtered event. */
  readonly reason: FilterReason | null
  readonly status: number
  readonly durationMs: number
  /** Number of events in the request; absent for one event. */
  readonly batch?: number
  /** Start of the attempt, or time of the decision for an event that was not sent. Ms since 1970. */
  readonly at: number
}

export const ENTRY_BYTES = 20
/** The outcome of an event that user code dropped. */
export const DROPPED = 'dropped_by_transformation'

const KIND_AT = 19
const DELIVERED_KIND = 0
const RULE_KIND = 253
const BATCHED_KIND = 254
const DROPPED_KIND = 255

const STATUS_BITS = 10
const DURATION_BITS = 16
const MAX_BATCH = 2 ** 14 - 1

/*
 * A block entry, numbers little-endian:
 *
 *    0  u48  offset        8  u16  status            13  u48  at
 *    6  u16  index        10  u24  duration in ms    19  u8   0 delivered, 254 delivered in a batch,
 *                                                             255 dropped by user code,
 *                                                             253 left out by the rule of the number in status,
 *                                                             else 1 + index in FILTER_REASONS
 *
 * Delivered in a batch: the 6 high bits of the status hold the low ones of the number of events, and the 8 high bits of the
 * duration, which is then at most 65 s, the high ones.
 */
export function writeEntry(target: Buffer, at: number, outcome: PlainOutcome): void {
  writeDelivered(target, at, outcome.offset, outcome.index, outcome.status, outcome.durationMs, outcome.at)
  if (outcome.outcome === DROPPED) target[at + KIND_AT] = DROPPED_KIND
  else if (outcome.batch !== undefined) writeBatch(target, at, outcome.batch)
  else if (outcome.reason !== null) writeReason(target, at, outcome.reason)
}

function writeReason(target: Buffer, at: number, reason: FilterReason): void {
  const index = (FILTER_REASONS as readonly string[]).indexOf(reason)
  target[at + KIND_AT] = index === -1 ? RULE_KIND : 1 + index
  if (index === -1) target.writeUInt16LE(Number(reason.slice(RULE_REASON.length)), at + 8)
}

const RULE_REASON = 'connection rule '

/** The same for the frequent case, without making an object of it. */
export function writeDelivered(
  target: Buffer,
  at: number,
  offset: number,
  index: number,
  status: number,
  durationMs: number,
  startedAt: number,
): void {
  target.writeUIntLE(offset, at, 6)
  target.writeUInt16LE(index, at + 6)
  target.writeUInt16LE(status, at + 8)
  target.writeUIntLE(Math.min(0xff_ffff, Math.max(0, Math.round(durationMs))), at + 10, 3)
  target.writeUIntLE(Math.max(0, Math.floor(startedAt)), at + 13, 6)
  target[at + KIND_AT] = DELIVERED_KIND
}

/** Writes the number of events of the request into the entry of a delivered event. */
export function writeBatch(target: Buffer, at: number, batch: number): void {
  const events = Math.min(batch, MAX_BATCH)
  const status = Math.min(target.readUInt16LE(at + 8), 2 ** STATUS_BITS - 1)
  const durationMs = Math.min(target.readUIntLE(at + 10, 3), 2 ** DURATION_BITS - 1)
  target.writeUInt16LE(status | ((events & 0x3f) << STATUS_BITS), at + 8)
  target.writeUIntLE(durationMs | ((events >> 6) << DURATION_BITS), at + 10, 3)
  target[at + KIND_AT] = BATCHED_KIND
}

/** Entries of filtered events, as one block. */
export function filteredEntries(outcomes: readonly PlainOutcome[]): Buffer {
  const entries = Buffer.allocUnsafeSlow(outcomes.length * ENTRY_BYTES)
  for (const [i, outcome] of outcomes.entries()) writeEntry(entries, i * ENTRY_BYTES, outcome)
  return entries
}

/** The number of entries with the outcome delivered. */
export function countDelivered(entries: Uint8Array): number {
  let count = 0
  for (let at = KIND_AT; at < entries.length; at += ENTRY_BYTES) {
    if (entries[at] === DELIVERED_KIND || entries[at] === BATCHED_KIND) count++
  }
  return count
}

export function readEntry(source: Buffer, at: number): PlainOutcome {
  const kind = source[at + KIND_AT]!
  const [status, durationMs] = [source.readUInt16LE(at + 8), source.readUIntLE(at + 10, 3)]
  const entry = {
    offset: source.readUIntLE(at, 6),
    index: source.readUInt16LE(at + 6),
    at: source.readUIntLE(at + 13, 6),
  }
  if (kind === RULE_KIND) {
    return { ...entry, status: 0, durationMs, outcome: 'filtered', reason: `connection rule ${status}` }
  }
  if (kind !== BATCHED_KIND) return { ...entry, status, durationMs, ...kindOf(kind) }
  return {
    ...entry,
    status: status & (2 ** STATUS_BITS - 1),
    durationMs: durationMs & (2 ** DURATION_BITS - 1),
    batch: (status >> STATUS_BITS) | ((durationMs >> DURATION_BITS) << 6),
    outcome: 'delivered',
    reason: null,
  }
}

function kindOf(kind: number): Pick<PlainOutcome, 'outcome' | 'reason'> {
  if (kind === DELIVERED_KIND) return { outcome: 'delivered', reason: null }
  if (kind === DROPPED_KIND) return { outcome: DROPPED, reason: null }
  return { outcome: 'filtered', reason: FILTER_REASONS[kind - 1]! }
}
