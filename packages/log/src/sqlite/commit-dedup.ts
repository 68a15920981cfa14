import { decodeRecord } from '@millrace/protocol'
import { dedupKeys } from '../dedup.ts'
import { DEDUP_ENTRY_BYTES, type DedupWindow } from './dedup-window.ts'

const KEY_BYTES = 8

/** What is decided of the events of one commit, before it is written. */
export interface DecidedCommit {
  /** Indexes of the duplicates, by the record's place in the commit; only of records that have some. */
  readonly duplicates: ReadonlyMap<number, readonly number[]>
  /** The other events of sources with a window, to be written with the records. */
  readonly entries: Buffer
}

/**
 * Tells which events of a commit are duplicates: of events before it, or of earlier ones in it.
 *
 * @param records of sources with a window, by their places in the commit, in order.
 */
export function decideCommit(
  window: DedupWindow,
  records: Iterable<{ readonly place: number; readonly bytes: Uint8Array; readonly windowMs: number }>,
): DecidedCommit {
  const duplicates = new Map<number, number[]>()
  const entries: Buffer[] = []
  /** Of this commit: they are in the window once it is stored. */
  const added = new Map<string, number>()
  for (const { place, bytes, windowMs } of records) {
    const record = decodeRecord(bytes)
    const { acceptedAt } = record.header
    const keys = dedupKeys(record)
    const indexes: number[] = []
    for (let at = 0; at < keys.length; at += KEY_BYTES) {
      const key = keys.toString('latin1', at, at + KEY_BYTES)
      const before = added.get(key) ?? window.acceptedAt(keys.readUInt32LE(at), keys.readUInt32LE(at + 4))
      if (before !== undefined && acceptedAt - before < windowMs) {
        indexes.push(at / KEY_BYTES)
        continue
      }
      added.set(key, acceptedAt)
      const entry = Buffer.allocUnsafe(DEDUP_ENTRY_BYTES)
      keys.copy(entry, 0, at, at + KEY_BYTES)
      entry.writeDoubleLE(acceptedAt, KEY_BYTES)
      entries.push(entry)
    }
    if (indexes.length > 0) duplicates.set(place, indexes)
  }
  return { duplicates, entries: Buffer.concat(entries) }
}

/** Notes entries that are on disk. */
export function addEntries(window: DedupWindow, bytes: Uint8Array): void {
  const entries = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at < entries.length; at += DEDUP_ENTRY_BYTES) {
    window.add(entries.readUInt32LE(at), entries.readUInt32LE(at + 4), entries.readDoubleLE(at + KEY_BYTES))
  }
}

/** Of the last entry, which is there. */
export function lastAcceptedAt(parts: readonly Uint8Array[]): number {
  const { buffer, byteOffset, byteLength } = parts.at(-1)!
  return new DataView(buffer).getFloat64(byteOffset + byteLength - 8, true)
}
