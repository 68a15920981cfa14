import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { decodeRecord } from '@millrace/protocol'
import type { Offset, ReadResult, StoredRecord, Stream } from '../event-log.ts'
import { duplicateIndexes } from '../frames.ts'
import { DamagedSegmentError, hasTable, STREAM_TABLES } from './segments/segment.ts'
import { segmentPath } from './segments/segment-files.ts'
import { SegmentLook, segmentsFrom, segmentsIn } from './segments/segment-look.ts'

/**
 * Reads a stream of the log's files forwards, from any thread, beside the thread that writes, checkpoints and drops them:
 * for a reader that wants nothing of those who accept and deliver. It keeps the file open that it reads.
 */
export class ForwardReader {
  readonly #directory: string
  readonly #onDamage: (first: Offset, cause: string) => void
  readonly #look = new SegmentLook()
  /** First offsets of the segments that the folder had when it was last read. Some may be gone, and others have come. */
  #firsts: readonly Offset[] = []
  /** One past the newest record that was found: no segment begins before it that is not known. */
  #reach: Offset = 0

  /** @param onDamage told of what could not be read and is passed over: a segment by its first offset, or a record. */
  constructor(directory: string, onDamage: (offset: Offset, cause: string) => void) {
    this.#directory = directory
    this.#onDamage = onDamage
  }

  /**
   * Records of a stream from `from` on, up to `maxBytes` of them, but at least one if there is one.
   *
   * @param end what the log has committed at least: without a record the next read begins there.
   * @throws DamagedSegmentError when the segment that is being written cannot be read at the moment.
   */
  read(stream: Stream, from: Offset, end: Offset, maxBytes: number): ReadResult {
    for (const first of this.#segmentsFrom(from, end)) {
      const records = this.#readSegment(first, stream, from, maxBytes)
      if (records.length === 0) continue
      const next = records.at(-1)!.offset + 1
      this.#reach = Math.max(this.#reach, next)
      return { records, next }
    }
    return { records: [], next: Math.max(from, end) }
  }

  /** Closes the file that it reads, so that its space is free when it is dropped: for whoever does not read on at once. */
  release(): void {
    this.#look.release()
  }

  /** The folder is read when the segments that are known are used up, and do not reach as far as the log does. */
  *#segmentsFrom(from: Offset, end: Offset): Generator<Offset> {
    yield* segmentsFrom(this.#firsts, from)
    if (this.#reach >= end) return
    const newest = this.#firsts.at(-1) ?? -1
    this.#firsts = segmentsIn(this.#directory)
    const newer = this.#firsts.filter((first) => first > newest)
    yield* segmentsFrom(newer, from)
  }

  #readSegment(first: Offset, stream: Stream, from: Offset, maxBytes: number): StoredRecord[] {
    const path = segmentPath(this.#directory, first)
    try {
      return this.#look.into(path, (database) => this.#readRecords(database, stream, from, maxBytes)) ?? []
    } catch (error) {
      const isPassedOver = error instanceof DamagedSegmentError && segmentsIn(this.#directory).at(-1) !== first
      if (!isPassedOver) throw error
      this.#onDamage(first, error.message)
      return []
    }
  }

  #readRecords(database: DatabaseSync, stream: Stream, from: Offset, maxBytes: number): StoredRecord[] {
    const rows = database.prepare(
      `SELECT offset, crc, bytes FROM ${STREAM_TABLES[stream]} WHERE offset >= ? ORDER BY offset`,
    )
    const duplicatesOf = hasTable(database, 'duplicates')
      ? database.prepare('SELECT indexes FROM duplicates WHERE offset = ?')
      : undefined
    const found: StoredRecord[] = []
    let left = maxBytes
    for (const row of rows.iterate(from)) {
      const { offset, crc, bytes } = row as unknown as { offset: Offset; crc: number; bytes: Uint8Array }
      if (crc32(bytes) !== crc) {
        this.#onDamage(offset, `record ${offset} fails its checksum`)
        continue
      }
      if (found.length > 0 && bytes.length > left) break
      const record = { ...decodeRecord(bytes), offset }
      const duplicates = duplicatesOf?.get(offset)?.['indexes'] as Uint8Array | undefined
      found.push(duplicates === undefined ? record : { ...record, duplicates: duplicateIndexes(duplicates) })
      left -= bytes.length
    }
    return found
  }
}
