/** Why a filter left an event out, in the order in which they are asked. The order is part of the format: append only. */
export const FILTER_REASONS = [
  'destination is disabled',
  'integrations',
  'device mode',
  'message type not supported',
  'event filter',
] as const
export type FilterReason = (typeof FILTER_REASONS)[number]

/** The outcome of an event about which there is nothing more to say than this. */
export interface PlainOutcome {
  readonly offset: number
  readonly index: number
  /** Undefined: delivered. */
  readonly filteredFor: FilterReason | undefined
  readonly status: number
  readonly durationMs: number
  /** When the attempt began; of a filtered event, when it was taken up. Ms since 1970. */
  readonly at: number
}

export const ENTRY_BYTES = 20
const KIND_AT = 19

/*
 * A block entry, numbers little-endian:
 *
 *    0  u48  offset        8  u16  status            13  u48  at
 *    6  u16  index        10  u24  duration in ms    19  u8   0 delivered, else 1 + index in FILTER_REASONS
 */
export function writeEntry(target: Buffer, at: number, outcome: PlainOutcome): void {
  writeDelivered(target, at, outcome.offset, outcome.index, outcome.status, outcome.durationMs, outcome.at)
  if (outcome.filteredFor !== undefined) target[at + KIND_AT] = 1 + FILTER_REASONS.indexOf(outcome.filteredFor)
}

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
  target[at + KIND_AT] = 0
}

/** Entries of events that filters left out, as one block. */
export function filteredEntries(outcomes: readonly (PlainOutcome & { readonly filteredFor: FilterReason })[]): Buffer {
  const entries = Buffer.allocUnsafeSlow(outcomes.length * ENTRY_BYTES)
  for (const [i, outcome] of outcomes.entries()) writeEntry(entries, i * ENTRY_BYTES, outcome)
  return entries
}

/** How many entries say that the event was delivered. */
export function countDelivered(entries: Uint8Array): number {
  let count = 0
  for (let at = KIND_AT; at < entries.length; at += ENTRY_BYTES) if (entries[at] === 0) count++
  return count
}

export function readEntry(source: Buffer, at: number): PlainOutcome {
  const kind = source[at + KIND_AT]!
  return {
    offset: source.readUIntLE(at, 6),
    index: source.readUInt16LE(at + 6),
    status: source.readUInt16LE(at + 8),
    durationMs: source.readUIntLE(at + 10, 3),
    at: source.readUIntLE(at + 13, 6),
    filteredFor: kind === 0 ? undefined : FILTER_REASONS[kind - 1],
  }
}
