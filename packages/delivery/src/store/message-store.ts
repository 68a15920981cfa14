import type { PositionWrite } from './outcomes/flush.ts'

/** 8 bytes hash, 6 bytes offset, 2 bytes index. */
export const HASH_ENTRY_BYTES = 16

/**
 * Finds the places of accepted events by the 8-byte hashes of their messageIds. @see contracts/delivery.md §8 [D624]
 */
export interface MessageStore {
  write(chunk: { partition: number; lastOffset: number; entries: Uint8Array; position: PositionWrite }): Promise<void>
  find(hash: Uint8Array): Promise<{ partition: number; offset: number; index: number }[]>
}

export function* findInEntries(entries: Buffer, hash: Buffer): Generator<{ offset: number; index: number }> {
  for (let at = entries.indexOf(hash); at !== -1; at = entries.indexOf(hash, at + 1)) {
    if (at % HASH_ENTRY_BYTES !== 0) continue
    yield { offset: entries.readUIntLE(at + 8, 6), index: entries.readUInt16LE(at + 14) }
  }
}

/** Splits entries by the upper bits of their hashes, so that a search reads one part of each chunk. */
export function entriesByBucket(entries: Uint8Array): Map<number, Buffer> {
  const all = Buffer.from(entries.buffer, entries.byteOffset, entries.byteLength)
  const buckets = new Map<number, Buffer[]>()
  for (let at = 0; at < all.length; at += HASH_ENTRY_BYTES) {
    const entry = all.subarray(at, at + HASH_ENTRY_BYTES)
    const parts = buckets.get(bucketOf(entry))
    if (parts === undefined) buckets.set(bucketOf(entry), [entry])
    else parts.push(entry)
  }
  return new Map([...buckets].map(([bucket, parts]) => [bucket, Buffer.concat(parts)]))
}

/** The part of a chunk that holds a hash, of 32. */
export function bucketOf(hash: Uint8Array): number {
  return hash[7]! >> 3
}
