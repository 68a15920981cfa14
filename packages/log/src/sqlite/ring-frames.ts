import { decodeRecord } from '@millrace/protocol/record'
import type { Offset, OffsetRange, StoredRecord } from '../event-log.ts'
import type { StreamNumber } from './segments/stream-number.ts'

/*
 * A frame in the ring, numbers little-endian:
 *
 *   0  u32  length of the encoded record
 *   4  u16  its stream and partition (segments/stream-number.ts)
 *   6  u32  rule for duplicates (dedup.ts)
 *  10       the encoded record
 */
export const FRAME_BYTES = 10

/** Range of a commit's frames in the ring's memory. */
export interface CommitSpan {
  readonly start: number
  readonly end: number
}

/** Where the record of a frame lies in the ring. */
export interface Found extends CommitSpan {
  readonly offset: Offset
}

/** Looks for the records of one stream within a range, up to `maxBytes` but at least one. */
export class FrameSearch {
  readonly found: Found[] = []
  bytes = 0
  readonly #ring: Buffer
  readonly #stream: StreamNumber
  readonly #range: OffsetRange
  readonly #maxBytes: number

  constructor(ring: Buffer, stream: StreamNumber, range: OffsetRange, maxBytes: number) {
    this.#ring = ring
    this.#stream = stream
    this.#range = range
    this.#maxBytes = maxBytes
  }

  /**
   * Searches a stored commit.
   *
   * @returns whether to go on: it has all records of the commit. `torn`: the commit was overwritten meanwhile.
   */
  search({ first, start, end: commitEnd }: CommitSpan & { readonly first: Offset }): boolean | 'torn' {
    const { from, to } = this.#range
    for (let at = start, offset = first; at < commitEnd; offset++) {
      const recordStart = at + FRAME_BYTES
      if (recordStart > commitEnd) return 'torn'
      const end = recordStart + this.#ring.readUInt32LE(at)
      if (end > commitEnd) return 'torn'
      const isWanted = offset >= from && this.#ring.readUInt16LE(at + 4) === this.#stream
      at = end
      if (!isWanted) continue
      const size = end - recordStart
      if (offset >= to || (this.found.length > 0 && this.bytes + size > this.#maxBytes)) return false
      this.bytes += size
      this.found.push({ offset, start: recordStart, end })
    }
    return true
  }

  /** A copy of what was found, because the ring may overwrite it, which decodes the records. */
  copy(): () => StoredRecord[] {
    return copyOf(this.#ring, this.found, this.bytes)
  }
}

export function copyOf(ring: Buffer, found: readonly Found[], bytes: number): () => StoredRecord[] {
  const copy = Buffer.allocUnsafeSlow(bytes)
  let end = 0
  const ends = found.map((each) => {
    end += ring.copy(copy, end, each.start, each.end)
    return end
  })
  return () => found.map(({ offset }, i) => ({ ...decodeRecord(copy.subarray(ends[i - 1] ?? 0, ends[i])), offset }))
}
