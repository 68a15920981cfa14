import type { FramedResult, Offset } from '../event-log.ts'
import { frame } from '../frames.ts'
import type { EncodedRecord } from './segments/commit.ts'
import { DamagedSegmentError } from './segments/damaged-segment.ts'
import { segmentPath, segmentsIn } from './segments/segment-files.ts'
import { lookInto, segmentsFrom } from './segments/segment-look.ts'
import { SegmentReads, type WantedRecords } from './segments/segment-reads.ts'
import { partitionOfStream } from './segments/stream-number.ts'

/** Reads the segments of a directory in both directions, concurrently with the log thread. */
export class BackReader {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  /** @see EventLog.readBack */
  read(partition: number, before: Offset, maxBytes: number): FramedResult {
    const wanted = { isWanted: isOf(partition), from: 0, to: before, maxBytes }
    const below = segmentsIn(this.#directory).filter((first) => first < before)
    for (const first of below.reverse()) {
      const records = this.#readSegment(first, { ...wanted, order: 'DESC' })
      if (records.length > 0) return { frames: frame(records), next: records.at(-1)!.offset }
    }
    return { frames: frame([]), next: 0 }
  }

  /** @see EventLog.scan; `next` is `from` if there are no records. */
  scan(partition: number, from: Offset, maxBytes: number): FramedResult {
    const wanted = { isWanted: isOf(partition), from, to: Number.MAX_SAFE_INTEGER, maxBytes }
    for (const first of segmentsFrom(segmentsIn(this.#directory), from)) {
      const records = this.#readSegment(first, { ...wanted, order: 'ASC' })
      if (records.length > 0) return { frames: frame(records), next: records.at(-1)!.offset + 1 }
    }
    return { frames: frame([]), next: from }
  }

  #readSegment(first: Offset, wanted: WantedRecords): readonly EncodedRecord[] {
    const path = segmentPath(this.#directory, first)
    try {
      // Passes damage over: readers that deliver find it, and the log thread sets the segment aside.
      return lookInto(path, (database) => new SegmentReads(database).read(wanted).records) ?? []
    } catch (error) {
      if (error instanceof DamagedSegmentError) return []
      throw error
    }
  }
}

function isOf(partition: number): WantedRecords['isWanted'] {
  return (stream) => partitionOfStream(stream) === partition
}
