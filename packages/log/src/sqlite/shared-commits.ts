import type { Offset, ReadResult } from '../event-log.ts'
import { type CommitSpan, FrameSearch } from './ring-frames.ts'
import type { StreamNumber } from './segments/stream-number.ts'

/*
 * What other threads need to read the ring. Numbers are in the machine's byte order:
 *
 *   0  i64  offset from which the ring has every record; moved before anything is overwritten
 *   8  i64  commits so far
 *  16       the newest commits, round and round: first offset, records, start and end in the ring, and whether it has duplicates;
 *           each a f64
 */
const HEAD_BYTES = 16
const FIELDS = 5
const MAX_COMMITS = 4_096

interface SharedCommit extends CommitSpan {
  readonly first: Offset
  readonly count: number
  readonly hasDuplicates: boolean
}

/** The commits in a ring, in memory that threads share. One thread publishes them; the others read the ring with it. */
export class SharedCommits {
  readonly memory: SharedArrayBuffer
  readonly #head: BigInt64Array
  readonly #entries: Float64Array

  /** @param coveredFrom what was stored before is not in the ring. */
  static from(coveredFrom: Offset): SharedCommits {
    const commits = new SharedCommits(new SharedArrayBuffer(HEAD_BYTES + MAX_COMMITS * FIELDS * 8))
    commits.cover(coveredFrom)
    return commits
  }

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory
    this.#head = new BigInt64Array(memory, 0, 2)
    this.#entries = new Float64Array(memory, HEAD_BYTES)
  }

  /** Records before this offset may be overwritten from now on. */
  cover(from: Offset): void {
    // Commits that were stored before the first that is listed leave the ring, too.
    if (!this.#isCovered(from)) return
    Atomics.store(this.#head, 0, BigInt(from))
  }

  publish({ first, count, start, end, hasDuplicates }: SharedCommit): void {
    const number = this.#count
    this.#entries.set([first, count, start, end, hasDuplicates ? 1 : 0], (number % MAX_COMMITS) * FIELDS)
    Atomics.store(this.#head, 1, BigInt(number + 1))
  }

  /**
   * Reads from the ring, on any thread.
   *
   * @param end an offset up to which the log has committed.
   * @returns undefined if the records lie in the files only, or a record has duplicates.
   */
  read(ring: Buffer, stream: StreamNumber, from: Offset, end: Offset, maxBytes: number): ReadResult | undefined {
    if (!this.#isCovered(from)) return undefined
    const search = new FrameSearch(ring, stream, { from, to: end }, maxBytes)
    const last = this.#count
    const oldest = Math.max(0, last - MAX_COMMITS + 1)
    const first = this.#numberOf(from, oldest, last)
    // There may be earlier commits that are no longer listed.
    if (first === oldest && oldest > 0 && this.#commit(first).first > from) return undefined
    let isWhole = true
    for (let number = first; number < last && isWhole; number++) {
      const commit = this.#commit(number)
      if (commit.first >= end) break
      const isDone = commit.hasDuplicates ? 'torn' : search.search(commit)
      if (isDone === 'torn') {
        if (search.found.length === 0) return undefined
        isWhole = false
      } else isWhole = isDone
    }
    const decode = search.copy()
    // Only now it is certain that nothing was overwritten while it was read.
    if (!this.#isCovered(from) || this.#count - first >= MAX_COMMITS) return undefined
    const records = decode()
    const next = isWhole || records.length === 0 ? Math.max(from, end) : records.at(-1)!.offset + 1
    return { records, next }
  }

  get #count(): number {
    return Number(Atomics.load(this.#head, 1))
  }

  #isCovered(from: Offset): boolean {
    return from >= Number(Atomics.load(this.#head, 0))
  }

  /** Number of the commit that has an offset, or of the first one after it. */
  #numberOf(offset: Offset, oldest: number, count: number): number {
    let low = oldest
    let high = count
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const { first, count: records } = this.#commit(middle)
      if (first + records <= offset) low = middle + 1
      else high = middle
    }
    return low
  }

  #commit(number: number): SharedCommit {
    const at = (number % MAX_COMMITS) * FIELDS
    const [first, count, start, end, duplicates] = this.#entries.subarray(at, at + FIELDS)
    return { first: first!, count: count!, start: start!, end: end!, hasDuplicates: duplicates === 1 }
  }
}
