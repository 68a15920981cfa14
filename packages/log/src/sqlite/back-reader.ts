import type { FramedResult, Offset } from '../event-log.ts'
import { frame } from '../frames.ts'
import type { EncodedRecord } from './segments/commit.ts'
import { DamagedSegmentError } from './segments/damaged-segment.ts'
import { segmentPath, segmentsIn } from './segments/segment-files.ts'
import { lookInto, segmentsFrom } from './segments/segment-look.ts'
import { SegmentReads, type WantedRecords } from './segments/segment-reads.ts'
import { partitionOfStream } from './segments/stream-number.ts'

export interface ScanResult extends FramedResult {
  /** The first offsets of the segments that were passed over. */
  readonly damaged: readonly Offset[]
}

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
  scan(partition: number, from: Offset, maxBytes: number): ScanResult {
    const damaged: Offset[] = []
    const wanted = { isWanted: isOf(partition), from, to: Number.MAX_SAFE_INTEGER, maxBytes }
    for (const first of segmentsFrom(segmentsIn(this.#directory), from)) {
      const records = this.#readSegment(first, { ...wanted, order: 'ASC' }, damaged)
      if (records.length > 0) return { frames: frame(records), next: records.at(-1)!.offset + 1, damaged }
    }
    return { frames: frame([]), next: from, damaged }
  }

  /** @param damaged gets the first offset of a segment that cannot be read. */
  #readSegment(first: Offset, wanted: WantedRecords, damaged: Offset[] = []): readonly EncodedRecord[] {
    const path = segmentPath(this.#directory, first)
    try {
      // Passes damage over: the log thread sets the segment aside when a delivery or a scan comes across it.
      return lookInto(path, (database) => new SegmentReads(database).read(wanted).records) ?? []
    } catch (error) {
      if (!(error instanceof DamagedSegmentError)) throw error
      damaged.push(first)
      return []
    }
  }
}

function isOf(partition: number): WantedRecords['isWanted'] {
  return (stream) => partitionOfStream(stream) === partition
}
