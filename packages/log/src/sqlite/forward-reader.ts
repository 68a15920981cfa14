import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { decodeRecord } from '@millrace/protocol/record'
import type { Offset, OffsetRange, ReadResult, StoredRecord, Stream } from '../event-log.ts'
import { duplicateIndexes } from '../frames.ts'
import { DamagedSegmentError } from './segments/damaged-segment.ts'
import { segmentPath } from './segments/segment-files.ts'
import { SegmentLook, segmentsFrom, segmentsIn } from './segments/segment-look.ts'
import { hasTable } from './segments/segment-tables.ts'
import { type StreamNumber, streamNumber, streamOfNumber } from './segments/stream-number.ts'
import { streamsIn, streamTable } from './segments/stream-tables.ts'

type IsWanted = (stream: StreamNumber) => boolean

/**
 * Reads a stream of the log's files forwards from any thread, concurrently with the log thread, so that the reader does not
 * slow down ingest and delivery. Keeps the current file open.
 */
export class ForwardReader {
  readonly #directory: string
  readonly #onDamage: (first: Offset, cause: string) => void
  readonly #look = new SegmentLook()
  /** First offsets of the segments at the last listing of the folder; segments may have been added or deleted since. */
  #firsts: readonly Offset[] = []
  /** One past the newest record found: every segment that starts before it is listed. */
  #reach: Offset = 0

  /** @param onDamage called for skipped damage: the first offset of a segment, or the offset of a record. */
  constructor(directory: string, onDamage: (offset: Offset, cause: string) => void) {
    this.#directory = directory
    this.#onDamage = onDamage
  }

  /**
   * Reads a stream of a partition from `from` on, up to `maxBytes` of records, but at least one record if there is one.
   *
   * @param end an offset up to which the log has committed: the read ends before it. A later record may lie in the file already, but
   *   a reader that takes it would be past the end that everybody knows.
   * @throws DamagedSegmentError if the open segment cannot be read at the moment.
   */
  read(partition: number, stream: Stream, from: Offset, end: Offset, maxBytes: number): ReadResult {
    const number = streamNumber(partition, stream)
    return this.#read((each) => each === number, from, end, maxBytes)
  }

  /** Like `read`, over all partitions in the order of their common offsets. */
  readAll(stream: Stream, from: Offset, end: Offset, maxBytes: number): ReadResult {
    return this.#read((each) => streamOfNumber(each) === stream, from, end, maxBytes)
  }

  #read(isWanted: IsWanted, from: Offset, end: Offset, maxBytes: number): ReadResult {
    for (const first of this.#segmentsFrom(from, end)) {
      const records = this.#readSegment(first, isWanted, { from, to: end }, maxBytes)
      if (records.length === 0) continue
      const next = records.at(-1)!.offset + 1
      this.#reach = Math.max(this.#reach, next)
      return { records, next }
    }
    return { records: [], next: Math.max(from, end) }
  }

  /** Closes the current file, so that deleting it frees its space. Call it before a pause. */
  release(): void {
    this.#look.release()
  }

  /** Lists the folder again when the known segments end before the log does. */
  *#segmentsFrom(from: Offset, end: Offset): Generator<Offset> {
    yield* segmentsFrom(this.#firsts, from)
    if (this.#reach >= end) return
    const newest = this.#firsts.at(-1) ?? -1
    this.#firsts = segmentsIn(this.#directory)
    const newer = this.#firsts.filter((first) => first > newest)
    yield* segmentsFrom(newer, from)
  }

  #readSegment(first: Offset, isWanted: IsWanted, range: OffsetRange, maxBytes: number): StoredRecord[] {
    const path = segmentPath(this.#directory, first)
    try {
      return this.#look.into(path, (database) => this.#readRecords(database, isWanted, range, maxBytes)) ?? []
    } catch (error) {
      const isPassedOver = error instanceof DamagedSegmentError && segmentsIn(this.#directory).at(-1) !== first
      if (!isPassedOver) throw error
      this.#onDamage(first, error.message)
      return []
    }
  }

  #readRecords(database: DatabaseSync, isWanted: IsWanted, range: OffsetRange, maxBytes: number): StoredRecord[] {
    const tables = streamsIn(database).filter(isWanted).map(streamTable)
    if (tables.length === 0) return []
    const selects = tables.map((table) => `SELECT offset, crc, bytes FROM ${table} WHERE offset >= ?1 AND offset < ?2`)
    const rows = database.prepare(`${selects.join(' UNION ALL ')} ORDER BY offset`)
    const duplicatesOf = hasTable(database, 'duplicates')
      ? database.prepare('SELECT indexes FROM duplicates WHERE offset = ?')
      : undefined
    const found: StoredRecord[] = []
    let left = maxBytes
    for (const row of rows.iterate(range.from, range.to)) {
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
