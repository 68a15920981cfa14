import type { DatabaseSync } from 'node:sqlite'
import type { Offset, ReadResult, StoredRecord, Stream } from '../event-log.ts'
import { recordOf } from '../frames.ts'
import { DamagedSegmentError } from './segments/damaged-segment.ts'
import { segmentPath, segmentsIn } from './segments/segment-files.ts'
import { SegmentLook, segmentsFrom } from './segments/segment-look.ts'
import { NOTHING, type SegmentPart, SegmentReads, type WantedRecords } from './segments/segment-reads.ts'
import { type StreamNumber, streamNumber, streamOfNumber } from './segments/stream-number.ts'

type IsWanted = (stream: StreamNumber) => boolean

/**
 * Reads a stream of the log's files forwards from any thread, concurrently with the log thread, so that the reader does not
 * slow down ingest and delivery. Keeps the current file open.
 */
export class ForwardReader {
  readonly #directory: string
  readonly #onDamage: (first: Offset, cause: string) => void
  readonly #look = new SegmentLook()
  /** Of the connection that `#look` keeps. */
  #reads: SegmentReads | undefined
  /** First offsets of the segments at the last listing of the folder; segments may have been added or deleted since. */
  #firsts: readonly Offset[] = []
  /** Every segment that starts before this offset is listed. */
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
    const records: StoredRecord[] = []
    const onDamage = (offset: Offset) => this.#onDamage(offset, `record ${offset} fails its checksum`)
    let left = maxBytes
    let isWhole = true
    try {
      for (const first of this.#segmentsFrom(from, end)) {
        const part = this.#readSegment(first, { isWanted, order: 'ASC', from, to: end, maxBytes: left, onDamage })
        for (const record of part.records) records.push(recordOf(record))
        left -= part.bytes
        // A read returns at least one record, also with a limit of 0 bytes.
        isWhole = part.isWhole && (left > 0 || records.length === 0)
        if (!isWhole) break
      }
    } catch (error) {
      // What lies before a segment that cannot be read comes first.
      if (records.length === 0) throw error
      isWhole = false
    }
    return { records, next: isWhole ? Math.max(from, end) : records.at(-1)!.offset + 1 }
  }

  /** Closes the current file if it was deleted, which frees its space. */
  releaseDeleted(): void {
    this.#look.releaseDeleted()
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
    this.#reach = end
    const newer = this.#firsts.filter((first) => first > newest)
    yield* segmentsFrom(newer, from)
  }

  #readSegment(first: Offset, wanted: WantedRecords): SegmentPart {
    const path = segmentPath(this.#directory, first)
    try {
      return this.#look.into(path, (database) => this.#readsOf(database).read(wanted)) ?? NOTHING
    } catch (error) {
      const isPassedOver = error instanceof DamagedSegmentError && segmentsIn(this.#directory).at(-1) !== first
      if (!isPassedOver) throw error
      this.#onDamage(first, error.message)
      return NOTHING
    }
  }

  #readsOf(database: DatabaseSync): SegmentReads {
    if (this.#reads?.database !== database) this.#reads = new SegmentReads(database)
    return this.#reads
  }
}
