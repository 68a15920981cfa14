import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { decodeRecord } from '@millrace/protocol'
import type { Offset, ReadResult, StoredRecord, Stream } from '../event-log.ts'
import { duplicateIndexes } from '../frames.ts'
import { DamagedSegmentError, hasTable } from './segment.ts'
import { segmentPath } from './segment-files.ts'
import { lookInto, segmentsIn } from './segment-look.ts'

/**
 * Reads a stream of the log's files forwards, from any thread, beside the thread that writes, checkpoints and drops them:
 * for a reader that wants nothing of those who accept and deliver.
 */
export class ForwardReader {
  readonly #directory: string
  readonly #onDamage: (first: Offset, cause: string) => void

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
    const firsts = segmentsIn(this.#directory)
    const start = Math.max(
      0,
      firsts.findLastIndex((first) => first <= from),
    )
    for (let i = start; i < firsts.length; i++) {
      const records = this.#readSegment(firsts[i]!, i === firsts.length - 1, stream, from, maxBytes)
      if (records.length > 0) return { records, next: records.at(-1)!.offset + 1 }
    }
    return { records: [], next: Math.max(from, end) }
  }

  #readSegment(first: Offset, isNewest: boolean, stream: Stream, from: Offset, maxBytes: number): StoredRecord[] {
    const path = segmentPath(this.#directory, first)
    try {
      return lookInto(path, (database) => this.#readRecords(database, stream, from, maxBytes)) ?? []
    } catch (error) {
      if (!(error instanceof DamagedSegmentError) || isNewest) throw error
      this.#onDamage(first, error.message)
      return []
    }
  }

  #readRecords(database: DatabaseSync, stream: Stream, from: Offset, maxBytes: number): StoredRecord[] {
    const rows = database.prepare(`SELECT offset, crc, bytes FROM ${stream} WHERE offset >= ? ORDER BY offset`)
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
