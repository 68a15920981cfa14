import type { DatabaseSync } from 'node:sqlite'
import { findInEntries, HASH_ENTRY_BYTES } from '../message-store.ts'

const BUCKETS = 32

/**
 * Finds the places of accepted events by the 8-byte hashes of their messageIds. There is no index entry per event, but
 * chunks of some thousand events. Each chunk is split into 32 rows by the hash, and a search reads one of them.
 *
 * @see contracts/delivery.md §8 [D624]
 */
export class MessageHashes {
  readonly #insert
  readonly #inBucket
  readonly #drop

  constructor(db: DatabaseSync) {
    this.#insert = db.prepare(
      'INSERT INTO message_hashes (bucket, partition, last_offset, entries) VALUES (?, ?, ?, ?)',
    )
    this.#inBucket = db.prepare('SELECT partition, entries FROM message_hashes WHERE bucket = ?')
    this.#drop = db.prepare('DELETE FROM message_hashes WHERE partition = ? AND last_offset < ?')
  }

  write(partition: number, lastOffset: number, entries: Buffer): void {
    const buckets: Buffer[][] = Array.from({ length: BUCKETS }, () => [])
    for (let at = 0; at < entries.length; at += HASH_ENTRY_BYTES) {
      buckets[bucketOf(entries, at)]!.push(entries.subarray(at, at + HASH_ENTRY_BYTES))
    }
    for (const [bucket, parts] of buckets.entries()) {
      if (parts.length > 0) this.#insert.run(bucket, partition, lastOffset, Buffer.concat(parts))
    }
  }

  find(hash: Buffer): { partition: number; offset: number; index: number }[] {
    const found: { partition: number; offset: number; index: number }[] = []
    for (const row of this.#inBucket.iterate(bucketOf(hash, 0))) {
      const bytes = row['entries'] as Uint8Array
      const entries = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      for (const place of findInEntries(entries, hash)) found.push({ partition: row['partition'] as number, ...place })
    }
    return found
  }

  drop(partition: number, before: number): void {
    this.#drop.run(partition, before)
  }
}

function bucketOf(bytes: Buffer, at: number): number {
  return bytes[at + 7]! >> 3
}
