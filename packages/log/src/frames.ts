import { decodeRecord } from '@millrace/protocol'
import type { Offset, StoredRecord } from './event-log.ts'

/*
 * Records on their way to another thread, one after the other, numbers little-endian:
 *
 *   0  u48  offset
 *   6  u32  length of the encoded record
 *  10       the encoded record (protocol/record.ts)
 */
const HEAD_BYTES = 10

/** Copies encoded records into one buffer, which can be handed to another thread as a whole. */
export function frame(
  records: readonly { readonly offset: Offset; readonly bytes: Uint8Array }[],
): Uint8Array<ArrayBuffer> {
  const size = records.reduce((sum, { bytes }) => sum + HEAD_BYTES + bytes.length, 0)
  const frames = Buffer.from(new ArrayBuffer(size))
  let at = 0
  for (const { offset, bytes } of records) {
    frames.writeUIntLE(offset, at, 6)
    frames.writeUInt32LE(bytes.length, at + 6)
    frames.set(bytes, at + HEAD_BYTES)
    at += HEAD_BYTES + bytes.length
  }
  return frames
}

/** The records of `frame`, in its order; their parts are views of the bytes, not copies. */
export function* framedRecords(bytes: Uint8Array): Generator<StoredRecord> {
  const frames = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at < frames.length; ) {
    const start = at + HEAD_BYTES
    const end = start + frames.readUInt32LE(at + 6)
    yield { ...decodeRecord(frames.subarray(start, end)), offset: frames.readUIntLE(at, 6) }
    at = end
  }
}
