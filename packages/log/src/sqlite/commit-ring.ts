import { decodeRecord, type EventRecord, encodedSize, encodeRecord } from '@millrace/protocol/record'
import { type DedupRule, numberOfRule, ruleOfNumber } from '../dedup.ts'
import type { Offset, StoredRecord } from '../event-log.ts'
import { partitionOfStream, type StreamNumber } from './segments/stream-number.ts'

/*
 * A frame in the ring, numbers little-endian:
 *
 *   0  u32  length of the encoded record
 *   4  u16  its stream and partition (segments/stream-number.ts)
 *   6  u32  rule for duplicates (dedup.ts)
 *  10       the encoded record
 */
const FRAME_BYTES = 10

/** Range of a commit's frames in the ring's memory. */
export interface CommitSpan {
  readonly start: number
  readonly end: number
}

interface Commit extends CommitSpan {
  /** Offset of its first record; undefined until the commit is stored. */
  first: Offset | undefined
  readonly count: number
  readonly streams: ReadonlySet<StreamNumber>
  /** Indexes of duplicates by the record's place in the commit. */
  duplicates: ReadonlyMap<number, readonly number[]>
}

/**
 * A ring buffer shared by the main thread and the log thread. A record is written here once: the log thread stores it from
 * here, and readers that keep up read it from here until newer commits overwrite it. Commits are contiguous and wrap
 * around at the end.
 */
export class CommitRing {
  readonly memory: SharedArrayBuffer
  readonly #bytes: Buffer
  readonly #maxStoredBytes: number
  #storedBytes = 0
  #commits: Commit[] = []
  /** Index of the oldest readable commit; older entries are trimmed from time to time. */
  #oldest = 0
  #writeAt = 0
  #coveredFrom: Offset

  /**
   * @param maxStoredBytes bytes of stored records that stay readable.
   * @param maxCommitBytes maximum size of a commit; two may be in flight.
   */
  constructor(maxStoredBytes: number, maxCommitBytes: number, end: Offset) {
    // Two commits in flight, a third being written, and the gap if the third does not fit before the end.
    this.memory = new SharedArrayBuffer(maxStoredBytes + 4 * maxCommitBytes)
    this.#bytes = Buffer.from(this.memory)
    this.#maxStoredBytes = maxStoredBytes
    this.#coveredFrom = end
  }

  static framedSize(record: EventRecord): number {
    return FRAME_BYTES + encodedSize(record)
  }

  /** Writes the records of a commit. They become readable with `stored`. */
  write(
    entries: readonly { stream: StreamNumber; record: EventRecord; size: number; dedup?: DedupRule | undefined }[],
  ): CommitSpan {
    const size = entries.reduce((sum, entry) => sum + entry.size, 0)
    const start = this.#makeRoom(size)
    let at = start
    for (const entry of entries) {
      this.#bytes.writeUInt32LE(entry.size - FRAME_BYTES, at)
      this.#bytes.writeUInt16LE(entry.stream, at + 4)
      this.#bytes.writeUInt32LE(numberOfRule(entry.dedup), at + 6)
      at = encodeRecord(entry.record, this.#bytes, at + FRAME_BYTES)
    }
    const streams = new Set(entries.map(({ stream }) => stream))
    const commit: Commit = { start, end: at, first: undefined, count: entries.length, streams, duplicates: NONE }
    this.#commits.push(commit)
    return commit
  }

  stored(span: CommitSpan, first: Offset, duplicates: Commit['duplicates']): void {
    const commit = span as Commit
    commit.first = first
    commit.duplicates = duplicates
    this.#storedBytes += span.end - span.start
    this.#forgetWhile(() => this.#storedBytes > this.#maxStoredBytes)
  }

  /** Removes a failed commit, which is never read. */
  failed(span: CommitSpan): void {
    this.#commits = this.#commits.filter((commit) => commit !== span)
  }

  /**
   * Copies the records of a stream from `from` on, up to `maxBytes` but at least one; undefined if the ring no longer has
   * `from`.
   */
  read(stream: StreamNumber, from: Offset, maxBytes: number): StoredRecord[] | undefined {
    if (from < this.#coveredFrom) return undefined
    const found: Found[] = []
    let bytes = 0
    for (let c = this.#indexOf(from); c < this.#commits.length; c++) {
      const commit = this.#commits[c]!
      if (commit.first === undefined) break
      if (!commit.streams.has(stream)) continue
      let offset = commit.first
      for (let at = commit.start; at < commit.end; offset++) {
        const start = at + FRAME_BYTES
        const end = start + this.#bytes.readUInt32LE(at)
        const isWanted = offset >= from && this.#bytes.readUInt16LE(at + 4) === stream
        at = end
        if (!isWanted) continue
        if (found.length > 0 && bytes + end - start > maxBytes) return this.#copy(found, bytes)
        bytes += end - start
        found.push({ offset, start, end, duplicates: commit.duplicates.get(offset - commit.first) })
      }
    }
    return this.#copy(found, bytes)
  }

  /** @returns `elsewhere` if the offset is one of another partition. */
  get(partition: number, offset: Offset): StoredRecord | 'elsewhere' | undefined {
    if (offset < this.#coveredFrom) return undefined
    const commit = this.#commits[this.#indexOf(offset)]
    if (commit?.first === undefined || commit.first > offset) return undefined
    let start = commit.start
    for (let i = commit.first; i < offset; i++) start += FRAME_BYTES + this.#bytes.readUInt32LE(start)
    const end = start + FRAME_BYTES + this.#bytes.readUInt32LE(start)
    if (partitionOfStream(this.#bytes.readUInt16LE(start + 4)) !== partition) return 'elsewhere'
    const duplicates = commit.duplicates.get(offset - commit.first)
    return this.#copy([{ offset, start: start + FRAME_BYTES, end, duplicates }], end - start)[0]
  }

  /** Copies records, because the ring may overwrite them. */
  #copy(found: readonly Found[], bytes: number): StoredRecord[] {
    const copy = Buffer.allocUnsafeSlow(bytes)
    let at = 0
    return found.map(({ offset, start, end, duplicates }) => {
      const recordStart = at
      at += this.#bytes.copy(copy, at, start, end)
      const record = { ...decodeRecord(copy.subarray(recordStart, at)), offset }
      return duplicates === undefined ? record : { ...record, duplicates: new Set(duplicates) }
    })
  }

  #makeRoom(size: number): number {
    const wraps = this.#writeAt + size > this.#bytes.length
    const start = wraps ? 0 : this.#writeAt
    // The commits ahead of the write position are the oldest; on wrapping, those left at the end come first.
    if (wraps) this.#forgetWhile((commit) => commit.start >= this.#writeAt)
    this.#forgetWhile((commit) => commit.start < start + size && commit.end > start)
    this.#writeAt = start + size
    return start
  }

  #forgetWhile(isInTheWay: (commit: Commit) => boolean): void {
    let commit = this.#commits[this.#oldest]
    while (commit?.first !== undefined && isInTheWay(commit)) {
      this.#storedBytes -= commit.end - commit.start
      this.#coveredFrom = commit.first + commit.count
      commit = this.#commits[++this.#oldest]
    }
    if (this.#oldest < 1_000) return
    this.#commits = this.#commits.slice(this.#oldest)
    this.#oldest = 0
  }

  /** Index of the commit with an offset, or of the first one after it. */
  #indexOf(offset: Offset): number {
    let low = this.#oldest
    let high = this.#commits.length
    while (low < high) {
      const middle = (low + high) >> 1
      const { first, count } = this.#commits[middle]!
      if (first !== undefined && first + count <= offset) low = middle + 1
      else high = middle
    }
    return low
  }
}

const NONE: Commit['duplicates'] = new Map()

interface Found {
  readonly offset: Offset
  readonly start: number
  readonly end: number
  readonly duplicates: readonly number[] | undefined
}

/** Iterates over the frames of a commit, in the log thread. */
export function* framesOf(
  memory: Uint8Array,
  { start, end }: CommitSpan,
): Generator<{ stream: StreamNumber; bytes: Uint8Array; rule: DedupRule | undefined }> {
  const view = new DataView(memory.buffer)
  for (let at = start; at < end; ) {
    const length = view.getUint32(at, true)
    const from = at + FRAME_BYTES
    const rule = ruleOfNumber(view.getUint32(at + 6, true))
    yield { stream: view.getUint16(at + 4, true), bytes: memory.subarray(from, from + length), rule }
    at = from + length
  }
}
