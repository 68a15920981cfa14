import { type EventRecord, encodedSize, encodeRecord } from '@millrace/protocol/record'
import { type DedupRule, numberOfRule, ruleOfNumber } from '../dedup.ts'
import type { Offset, StoredRecord } from '../event-log.ts'
import { type CommitSpan, copyOf, FRAME_BYTES, FrameSearch } from './ring-frames.ts'
import { partitionOfStream, type StreamNumber } from './segments/stream-number.ts'
import { SharedCommits } from './shared-commits.ts'

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
  /** Once other threads read the ring. */
  #shared: SharedCommits | undefined

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

  /** What other threads need to read the commits from now on. @param end one past the newest record. */
  share(end: Offset): SharedCommits {
    this.#shared ??= SharedCommits.from(end)
    return this.#shared
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
    const { start, end, count } = commit
    this.#shared?.publish({ first, count, start, end, hasDuplicates: duplicates.size > 0 })
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
    const search = new FrameSearch(this.#bytes, stream, { from, to: Number.MAX_SAFE_INTEGER }, maxBytes)
    const duplicates = new Map<Offset, readonly number[]>()
    for (let c = this.#indexOf(from); c < this.#commits.length; c++) {
      const { first, start, end, streams, duplicates: ofCommit } = this.#commits[c]!
      if (first === undefined) break
      if (!streams.has(stream)) continue
      for (const [place, indexes] of ofCommit) duplicates.set(first + place, indexes)
      if (search.search({ first, start, end }) !== true) break
    }
    const records = search.copy()()
    return duplicates.size === 0 ? records : records.map((each) => withDuplicates(each, duplicates.get(each.offset)))
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
    const [record] = copyOf(this.#bytes, [{ offset, start: start + FRAME_BYTES, end }], end - start)()
    return withDuplicates(record!, commit.duplicates.get(offset - commit.first))
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
      this.#shared?.cover(this.#coveredFrom)
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

function withDuplicates(record: StoredRecord, duplicates: readonly number[] | undefined): StoredRecord {
  return duplicates === undefined ? record : { ...record, duplicates: new Set(duplicates) }
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
