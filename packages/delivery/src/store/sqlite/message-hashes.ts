import type { DatabaseSync } from 'node:sqlite'
import { bucketOf, entriesByBucket, findInEntries } from '../message-store.ts'

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

  write(partition: number, lastOffset: number, entries: Uint8Array): void {
    for (const [bucket, part] of entriesByBucket(entries)) this.#insert.run(bucket, partition, lastOffset, part)
  }

  find(hash: Buffer): { partition: number; offset: number; index: number }[] {
    const found: { partition: number; offset: number; index: number }[] = []
    for (const row of this.#inBucket.iterate(bucketOf(hash))) {
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
