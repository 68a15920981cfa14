import { decodeRecord, type EventRecord, encodedSize, encodeRecord } from '@millrace/protocol'
import { type Offset, STREAMS, type StoredRecord, type Stream } from '../event-log.ts'

/*
 * A frame in the ring: u32 length of the encoded record, u8 index of its stream in STREAMS, the encoded record.
 */
const FRAME_BYTES = 5

/** Where the frames of one commit lie in the ring's memory. */
export interface CommitSpan {
  readonly start: number
  readonly end: number
}

interface Commit extends CommitSpan {
  /** Offset of its first record; undefined until it is stored. */
  first: Offset | undefined
  readonly count: number
  /** Indexes of duplicates, by the record's place in the commit. */
  duplicates: ReadonlyMap<number, readonly number[]>
}

/**
 * Memory that the log's two threads share. Records are written here once: the thread stores them from here, and
 * readers that keep up are served from here until newer commits take the place. Commits lie one after the other and
 * begin again at the start when the end is reached.
 */
export class CommitRing {
  readonly memory: SharedArrayBuffer
  readonly #bytes: Buffer
  readonly #maxStoredBytes: number
  #storedBytes = 0
  #commits: Commit[] = []
  /** Commits before this place are gone; they are cut off now and then. */
  #oldest = 0
  #writeAt = 0
  #coveredFrom: Offset

  /**
   * @param maxStoredBytes how much of what is stored can be read again, at most.
   * @param maxCommitBytes of one commit; two may be under way at a time.
   */
  constructor(maxStoredBytes: number, maxCommitBytes: number, end: Offset) {
    // Two commits under way, a third being written, and what is left unused when the third does not fit before the end.
    this.memory = new SharedArrayBuffer(maxStoredBytes + 4 * maxCommitBytes)
    this.#bytes = Buffer.from(this.memory)
    this.#maxStoredBytes = maxStoredBytes
    this.#coveredFrom = end
  }

  static framedSize(record: EventRecord): number {
    return FRAME_BYTES + encodedSize(record)
  }

  /** Writes the records of a commit. They can be read once `stored` is called. */
  write(entries: readonly { stream: Stream; record: EventRecord; size: number }[]): CommitSpan {
    const size = entries.reduce((sum, entry) => sum + entry.size, 0)
    const start = this.#makeRoom(size)
    let at = start
    for (const entry of entries) {
      this.#bytes.writeUInt32LE(entry.size - FRAME_BYTES, at)
      this.#bytes[at + 4] = STREAMS.indexOf(entry.stream)
      at = encodeRecord(entry.record, this.#bytes, at + FRAME_BYTES)
    }
    const commit: Commit = { start, end: at, first: undefined, count: entries.length, duplicates: NONE }
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

  /** Nothing of a commit that failed is ever read. */
  failed(span: CommitSpan): void {
    this.#commits = this.#commits.filter((commit) => commit !== span)
  }

  /**
   * Copies of the records of a stream from `from` on, up to `maxBytes` but at least one; undefined where older ones are
   * needed than are here.
   */
  read(stream: Stream, from: Offset, maxBytes: number): StoredRecord[] | undefined {
    if (from < this.#coveredFrom) return undefined
    const wanted = STREAMS.indexOf(stream)
    const found: Found[] = []
    let bytes = 0
    for (let c = this.#indexOf(from); c < this.#commits.length; c++) {
      const commit = this.#commits[c]!
      if (commit.first === undefined) break
      let offset = commit.first
      for (let at = commit.start; at < commit.end; offset++) {
        const start = at + FRAME_BYTES
        const end = start + this.#bytes.readUInt32LE(at)
        const isWanted = offset >= from && this.#bytes[at + 4] === wanted
        at = end
        if (!isWanted) continue
        if (found.length > 0 && bytes + end - start > maxBytes) return this.#copy(found, bytes)
        bytes += end - start
        found.push({ offset, start, end, duplicates: commit.duplicates.get(offset - commit.first) })
      }
    }
    return this.#copy(found, bytes)
  }

  get(offset: Offset): StoredRecord | undefined {
    if (offset < this.#coveredFrom) return undefined
    const commit = this.#commits[this.#indexOf(offset)]
    if (commit?.first === undefined || commit.first > offset) return undefined
    let start = commit.start
    for (let i = commit.first; i < offset; i++) start += FRAME_BYTES + this.#bytes.readUInt32LE(start)
    const end = start + FRAME_BYTES + this.#bytes.readUInt32LE(start)
    const duplicates = commit.duplicates.get(offset - commit.first)
    return this.#copy([{ offset, start: start + FRAME_BYTES, end, duplicates }], end - start)[0]
  }

  /** What is read outlives its place in the ring. */
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
    // What lies ahead of the writing place is the oldest; on wrapping that is first what is left behind at the end.
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

  /** Index of the commit that holds an offset, or of the first one after it. */
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

/** The frames of a commit, read back by the thread that stores them. */
export function* framesOf(
  memory: Uint8Array,
  { start, end }: CommitSpan,
): Generator<{ stream: Stream; bytes: Uint8Array }> {
  const view = new DataView(memory.buffer)
  for (let at = start; at < end; ) {
    const length = view.getUint32(at, true)
    const from = at + FRAME_BYTES
    yield { stream: STREAMS[memory[at + 4]!]!, bytes: memory.subarray(from, from + length) }
    at = from + length
  }
}
