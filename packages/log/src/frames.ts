import { decodeRecord } from '@millrace/protocol/record'
import type { DedupRule } from './dedup.ts'
import type { Offset, StoredRecord } from './event-log.ts'

/*
 * Wire format of records between threads, one after the other, numbers little-endian:
 *
 *   0  u48  offset
 *   6  u32  length of the encoded record
 *  10  u32  bytes of the indexes of its duplicates
 *  14       these indexes, each a u16
 *           the encoded record (protocol/record.ts)
 */
const HEAD_BYTES = 14
const NONE = new Uint8Array()

export interface FramedRecord {
  readonly offset: Offset
  readonly bytes: Uint8Array
  /** Indexes of its duplicates, as u16. */
  readonly duplicates?: Uint8Array
  /** In engines whose readers decide which events are duplicates. */
  readonly rule?: DedupRule
}

/** Copies encoded records into one buffer that can be transferred to another thread. */
export function frame(records: readonly FramedRecord[]): Uint8Array<ArrayBuffer> {
  const size = records.reduce((sum, { bytes, duplicates = NONE }) => {
    return sum + HEAD_BYTES + duplicates.length + bytes.length
  }, 0)
  const frames = Buffer.from(new ArrayBuffer(size))
  let at = 0
  for (const { offset, bytes, duplicates = NONE } of records) {
    frames.writeUIntLE(offset, at, 6)
    frames.writeUInt32LE(bytes.length, at + 6)
    frames.writeUInt32LE(duplicates.length, at + 10)
    frames.set(duplicates, at + HEAD_BYTES)
    frames.set(bytes, at + HEAD_BYTES + duplicates.length)
    at += HEAD_BYTES + duplicates.length + bytes.length
  }
  return frames
}

/** Decodes the result of `frame`, in its order; the records are views of the bytes, not copies. */
export function* framedRecords(bytes: Uint8Array): Generator<StoredRecord> {
  const frames = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at < frames.length; ) {
    const duplicatesLength = frames.readUInt32LE(at + 10)
    const start = at + HEAD_BYTES + duplicatesLength
    const end = start + frames.readUInt32LE(at + 6)
    const record = { ...decodeRecord(frames.subarray(start, end)), offset: frames.readUIntLE(at, 6) }
    yield duplicatesLength === 0
      ? record
      : { ...record, duplicates: duplicateIndexes(frames.subarray(at + HEAD_BYTES, start)) }
    at = end
  }
}

/**
 * Decodes what comes before the first record of a later version: readers stop at that one, and never pass over it.
 *
 * @throws RecordFormatError if it is the first.
 */
export function knownRecords(records: readonly FramedRecord[]): StoredRecord[] {
  const known: StoredRecord[] = []
  for (const record of records) {
    try {
      known.push(recordOf(record))
    } catch (error) {
      if (known.length === 0) throw error
      break
    }
  }
  return known
}

export function recordOf({ offset, bytes, duplicates }: FramedRecord): StoredRecord {
  const record = { ...decodeRecord(bytes), offset }
  return duplicates === undefined ? record : { ...record, duplicates: duplicateIndexes(duplicates) }
}

/** @param bytes u16 values, at any alignment. */
export function duplicateIndexes(bytes: Uint8Array): ReadonlySet<number> {
  return new Set(new Uint16Array(Uint8Array.from(bytes).buffer))
}

export function duplicateBytes(indexes: Iterable<number>): Uint8Array {
  return new Uint8Array(Uint16Array.from(indexes).buffer)
}
