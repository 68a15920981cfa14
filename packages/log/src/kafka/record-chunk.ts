import type { Offset } from '../event-log.ts'
import type { FramedRecord } from '../frames.ts'

/** Adjacent records of a partition, in order: every offset from `from` up to `next` that has a record. */
export interface RecordChunk {
  readonly from: Offset
  readonly next: Offset
  readonly records: readonly FramedRecord[]
  readonly bytes: number
}

/** Index of the first record at or after an offset. */
export function indexFrom({ records }: RecordChunk, offset: Offset): number {
  let low = 0
  let high = records.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (records[middle]!.offset < offset) low = middle + 1
    else high = middle
  }
  return low
}
