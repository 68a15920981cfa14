import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { MAX_DEDUP_WINDOW_MS } from '../../dedup.ts'
import type { Offset, OffsetRange, Tally } from '../../event-log.ts'
import { KnownKeys, withoutDuplicates } from '../dedup/known-keys.ts'
import { FinishedTimes } from '../finished-times.ts'
import type { Appended } from '../log-calls.ts'
import { CheckpointQueue } from './checkpoint-queue.ts'
import type { Commit, EncodedRecord } from './commit.ts'
import { SEGMENT_OFFSETS, type Segment } from './segment.ts'
import { type SegmentEntry, SegmentList, type SegmentListOptions } from './segment-list.ts'
import type { StreamNumber } from './stream-number.ts'

/** The log of one directory: appends to the newest segment, creates new segments and deletes old ones. */
export class Segments {
  readonly #options: SegmentsOptions
  readonly #list: SegmentList
  readonly #checkpoints: CheckpointQueue
  readonly #keys: KnownKeys
  readonly #finished: FinishedTimes
  #openedAt: number
  #lastPlaceCheck = Number.NEGATIVE_INFINITY

  constructor(options: SegmentsOptions) {
    this.#options = options
    this.#list = new SegmentList(options)
    this.#checkpoints = new CheckpointQueue(this.#list)
    this.#keys = new KnownKeys(this.#list)
    this.#finished = new FinishedTimes(options.directory)
    this.#openedAt = performance.now()
    this.#open()
    // Before the first checkpoint: both read segments that a crash left with a WAL.
    if (options.hasDedup) this.#keys.loadWindow()
    this.#checkpoints.startNext()
  }

  get end(): Offset {
    return this.#list.end
  }

  get damaged(): readonly OffsetRange[] {
    return this.#list.damaged
  }

  /** Appends and syncs one commit; returns its duplicates. */
  append(commit: Commit): Appended {
    this.#refuseIfMoved()
    this.#rotateIfDue()
    const first = this.#list.end
    if (commit.entries.some(({ rule }) => rule !== undefined)) return this.#appendDeduplicated(first, commit)
    this.#open().append(first, commit)
    this.#list.appended(commit.entries.length)
    return { first, duplicates: NO_DUPLICATES }
  }

  /** Tests a commit. @throws the error of a failed commit. */
  probe(): void {
    this.#lastPlaceCheck = Number.NEGATIVE_INFINITY
    this.#refuseIfMoved()
    this.#open().probe()
    this.#emptyIdleWal()
  }

  read(stream: StreamNumber, from: Offset, maxBytes: number): { records: EncodedRecord[]; next: Offset } {
    return this.#list.read(stream, from, maxBytes)
  }

  get(partition: number, offset: Offset): EncodedRecord | undefined {
    return this.#list.get(partition, offset)
  }

  tally(stream: StreamNumber, range: OffsetRange): Tally {
    return this.#list.tally(stream, range)
  }

  oldest(partition: number): { offset: Offset; acceptedAt: number } | undefined {
    return this.#list.oldest(partition)
  }

  inspect(offset: Offset): void {
    this.#list.inspect(offset)
  }

  sizeBytes(): number {
    return this.#list.sizeBytes()
  }

  /** The first offset of the oldest segment, or of the damaged ones right before it. */
  deletedBefore(): Offset {
    const { end, entries, damaged } = this.#list
    const oldest = entries[0]?.first ?? end
    // A damaged file stays for inspection when all around it is deleted.
    return damaged.reduceRight((first, { from, to }) => (to >= first ? Math.min(first, from) : first), oldest)
  }

  /** The oldest segment, once it is closed. */
  oldestClosed(): OffsetRange | undefined {
    const [oldest] = this.#list.entries
    return oldest?.state === 'closed' ? { from: oldest.first, to: this.#list.endOf(0) } : undefined
  }

  /**
   * Deletes the oldest segment if it is closed and has been finished for `keepMs`. @returns whether it did: another one may be due,
   * but appends go first.
   */
  retain(finishedBefore: Offset, keepMs: number, now: number): boolean {
    const finished = this.#list.entries.filter(
      (entry, at) => entry.state !== 'open' && this.#list.endOf(at) <= finishedBefore,
    )
    // Keep segments with keys that a restart still needs, unless the log is too large.
    const leastKeepMs = keepMs > 0 && this.#keys.hasWindowKeys ? Math.max(keepMs, MAX_DEDUP_WINDOW_MS) : keepMs
    for (const { first } of finished) this.#finished.since(first, now)
    const [oldest] = finished
    const isDue = ({ first }: SegmentEntry) => now - this.#finished.since(first, now) >= leastKeepMs
    if (oldest?.state === 'closed' && isDue(oldest)) {
      const newestAt = this.#list.guarded(oldest, (segment) => segment.newestAt())
      // It and those after it were finished later than its last record was accepted.
      if (typeof newestAt === 'number' && newestAt <= now) this.#finished.correct(newestAt, now)
      if (isDue(oldest)) {
        // A damaged one is set aside, and no longer in the list.
        if (newestAt !== 'damaged' && this.#carryAttempts(oldest, newestAt ?? now, now)) this.#list.delete(oldest)
        this.#finished.forget(oldest.first)
        return true
      }
    }
    // Only after the last deletion: both may fail on a full disk, where deletions help.
    this.#finished.save()
    this.#rotateIfDue()
    return false
  }

  /** Closes the newest segment, as if it were full. @returns the first offset of the next one. */
  closeNewest(): Offset {
    const { newest } = this.#list
    if (newest?.state === 'open' && this.#list.end > newest.first) this.#closeAndGoOn(newest)
    return this.#list.end
  }

  /** The segments before an offset; undefined until all are closed. Retries failed checkpoints. */
  closedBefore(end: Offset): Offset[] | undefined {
    const wanted = this.#list.entries.filter(({ first }) => first < end)
    if (wanted.every(({ state }) => state === 'closed')) return wanted.map(({ first }) => first)
    this.#checkpoints.startNext()
    return undefined
  }

  /** Closes the newest segment; the next start creates a new one and finishes an interrupted checkpoint. */
  async close(): Promise<void> {
    await this.#checkpoints.stop()
    const { newest } = this.#list
    if (newest?.state === 'open') {
      const segment = this.#list.handle(newest)
      const isEmpty = segment.end() === newest.first && segment.attemptEntries().length === 0
      if (!isEmpty) {
        this.#writeKeys(segment)
        segment.checkpoint()
      }
      if (isEmpty) this.#list.delete(newest)
    }
    for (const entry of this.#list.entries) this.#list.release(entry)
  }

  #appendDeduplicated(first: Offset, commit: Commit): Appended {
    const decided = this.#keys.decide(first, commit)
    this.#open().append(first, { ...commit, tallies: withoutDuplicates(commit, decided.duplicates), decided })
    this.#list.appended(commit.entries.length)
    this.#keys.committed(decided)
    return { first, duplicates: decided.duplicates }
  }

  /** Copies keys that are still needed from a segment to be deleted into the newest one. @returns false if it is damaged. */
  #carryAttempts(entry: SegmentEntry, newestAt: number, now: number): boolean {
    const neededFrom = now - MAX_DEDUP_WINDOW_MS
    if (newestAt <= neededFrom) return true
    const entries = this.#list.guarded(entry, (segment) => segment.attemptEntries())
    if (entries === 'damaged') return false
    const due = entries.filter(({ acceptedAt }) => acceptedAt > neededFrom)
    try {
      if (due.length > 0) this.#open().keepAttempts(due)
    } catch {
      // The disk is full, so deleting the segment matters more. The keys stay in memory until the process ends.
      this.#keys.loadAttempts()
    }
    return true
  }

  /** The open segment; created if there is none. */
  #open(): Segment {
    const { newest } = this.#list
    return newest?.state === 'open' ? this.#list.handle(newest) : this.#startSegment()
  }

  #startSegment(): Segment {
    const segment = this.#list.begin()
    this.#openedAt = performance.now()
    this.#checkpoints.startNext()
    return segment
  }

  #rotateIfDue(): void {
    const { newest, end } = this.#list
    if (newest?.state !== 'open' || end === newest.first) return
    const isDue =
      walBytesOf(newest) >= this.#options.segmentBytes ||
      performance.now() - this.#openedAt >= this.#options.segmentMs ||
      end - newest.first >= SEGMENT_OFFSETS - 1_000
    if (isDue) this.#closeAndGoOn(newest)
  }

  /** A segment without records is never closed, but each probe adds a page to its WAL. */
  #emptyIdleWal(): void {
    const { newest, end } = this.#list
    if (newest?.state !== 'open' || end !== newest.first || walBytesOf(newest) < MAX_IDLE_WAL_BYTES) return
    try {
      this.#list.handle(newest).checkpoint()
    } catch {
      // A reader was busy with it: the next probe retries.
    }
  }

  #closeAndGoOn(newest: SegmentEntry): void {
    this.#writeKeys(this.#list.handle(newest))
    newest.state = 'closing'
    this.#startSegment()
  }

  #writeKeys(segment: Segment): void {
    try {
      segment.writeKeys()
    } catch {
      // The keys follow from the records, too: reading them takes longer.
    }
  }

  #refuseIfMoved(): void {
    const now = performance.now()
    if (now - this.#lastPlaceCheck < PLACE_CHECK_MS) return
    if (!this.#open().isInPlace()) throw new Error(`${dirname(this.#options.directory)} was moved or deleted`)
    this.#lastPlaceCheck = now
  }
}

export interface SegmentsOptions extends SegmentListOptions {
  /** A segment is closed when its WAL reaches this size, … */
  readonly segmentBytes: number
  /** … or when it has been open this long. */
  readonly segmentMs: number
  /** Whether sources have a dedup window. */
  readonly hasDedup: boolean
}

function walBytesOf({ path }: SegmentEntry): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
}

const PLACE_CHECK_MS = 1_000
const MAX_IDLE_WAL_BYTES = 1024 * 1024
const NO_DUPLICATES: Appended['duplicates'] = new Map()
