import { type EventRecord, eventCount } from '@millrace/protocol'
import { type Clock, ClockJumps, ReaderThread, ThreadCalls, type Timer } from '@millrace/std'
import type { Dedup, DedupRule } from '../dedup.ts'
import {
  type EventLog,
  type FramedResult,
  LogUnavailableError,
  type Offset,
  type OffsetRange,
  type ReadResult,
  type StoredRecord,
  type Stream,
  type Tally,
} from '../event-log.ts'
import { recordOf } from '../frames.ts'
import { addToTally } from '../tally.ts'
import type { Appended, BackCalls, CommitMessage, DamageNotice, LogCalls, LogThreadData } from './calls.ts'
import { CommitRing } from './commit-ring.ts'
import type { EncodedRecord } from './segments/segment.ts'
import { segmentPath } from './segments/segment-files.ts'

export interface SqliteEventLogOptions {
  /** Created if missing. */
  readonly directory: string
  readonly clock: Clock
  /** Highest offset that a reader has passed: new records come after it, even if the log was truncated. Default 0. */
  readonly notBefore?: Offset
  /** Whether a source has a dedup window: recent keys are then loaded at start. Default false. */
  readonly hasDedup?: boolean
  /** Default 256 MB. */
  readonly segmentBytes?: number
  /** Default one hour. */
  readonly segmentMs?: number
  /** Size of the ring that serves the newest records. Default 32 MB. */
  readonly cacheBytes?: number
  /** Maximum size of an encoded record. Default 4 MiB. */
  readonly maxRecordBytes?: number
  /** Called when the log thread ended: no more appends are possible. */
  readonly onFault?: (error: Error) => void
  /** Called when the search thread ended; it restarts. */
  readonly onReaderEnd?: (error: Error) => void
}

const MAX_COMMIT_RECORDS = 64
const MAX_COMMIT_BYTES = 4 * 1024 * 1024
/** A commit of this size starts without waiting for more records. */
const WORTHWHILE_COMMIT_BYTES = 256 * 1024
/** One commit is prepared while another one is synced. */
const MAX_COMMITS_UNDER_WAY = 2
const PROBE_INTERVAL_MS = 1_000
const FRESH_MS = 2_000
const LOOK_AGAIN_MS = 50
const MAX_CLOSING_MS = 600_000

interface Waiting {
  readonly stream: Stream
  readonly record: EventRecord
  readonly size: number
  readonly dedup: Dedup | undefined
  readonly resolve: (offset: Offset) => void
  readonly reject: (error: LogUnavailableError) => void
}

/**
 * The event log on SQLite files, with one partition, written by a separate thread. Appends during a commit are grouped into
 * the next one, so that each fsync serves all waiting requests.
 */
export class SqliteEventLog implements EventLog {
  readonly partitions = 1
  readonly #directory: string
  readonly #clock: Clock
  readonly #clockJumps: ClockJumps
  readonly #thread: ThreadCalls<LogCalls, DamageNotice>
  readonly #ring: CommitRing
  readonly #backThread: ReaderThread<BackCalls>
  readonly #commitListeners = new Set<(partition: number, stream: Stream) => void>()
  readonly #damageListeners = new Set<(partition: number, range: OffsetRange) => void>()
  #damaged: OffsetRange[]
  #end: Offset
  #sizeBytes: number
  #waiting: Waiting[] = []
  #waitingBytes = 0
  #commitsUnderWay = 0
  #isFlushPlanned = false
  #lastCommitAt = Number.NEGATIVE_INFINITY
  #trouble: string | undefined
  #probeTimer: Timer | undefined
  #isClosed = false
  #retentionHolds = 0

  static async open(options: SqliteEventLogOptions): Promise<SqliteEventLog> {
    const data: LogThreadData = {
      directory: options.directory,
      notBefore: options.notBefore ?? 0,
      hasDedup: options.hasDedup ?? false,
      segmentBytes: options.segmentBytes ?? 256 * 1024 * 1024,
      segmentMs: options.segmentMs ?? 3_600_000,
    }
    const hooks: Hooks = {}
    const thread = new ThreadCalls<LogCalls, DamageNotice>({
      file: new URL('./thread.ts', import.meta.url),
      name: 'log',
      data,
      onNotice: (notice) => hooks.onNotice?.(notice),
      onEnd: (error) => hooks.onEnd?.(error),
    })
    try {
      const opened = await thread.call('open', undefined)
      const maxCommitBytes = Math.max(MAX_COMMIT_BYTES, options.maxRecordBytes ?? MAX_COMMIT_BYTES)
      const ring = new CommitRing(options.cacheBytes ?? 32 * 1024 * 1024, maxCommitBytes, opened.end)
      await thread.call('share', ring.memory)
      return new SqliteEventLog(options, thread, hooks, opened, ring)
    } catch (error) {
      await thread.stop()
      throw error
    }
  }

  private constructor(
    options: SqliteEventLogOptions,
    thread: ThreadCalls<LogCalls, DamageNotice>,
    hooks: Hooks,
    opened: ReturnType<LogCalls['open']>,
    ring: CommitRing,
  ) {
    this.#ring = ring
    this.#directory = options.directory
    this.#clock = options.clock
    this.#clockJumps = new ClockJumps(options.clock)
    this.#thread = thread
    this.#end = opened.end
    this.#damaged = [...opened.damaged]
    this.#sizeBytes = opened.sizeBytes
    hooks.onNotice = (notice) => this.#noteDamage(notice)
    this.#backThread = new ReaderThread({
      file: new URL('./back-thread.ts', import.meta.url),
      name: 'log-back',
      data: () => ({ data: options.directory }),
      clock: options.clock,
      ...(options.onReaderEnd === undefined ? {} : { onEnd: options.onReaderEnd }),
    })
    hooks.onEnd = (error) => {
      this.#trouble = error.message
      this.#probeTimer?.cancel()
      options.onFault?.(error)
    }
  }

  partitionOf(): number {
    return 0
  }

  append(stream: Stream, record: EventRecord, dedup?: Dedup): Promise<Offset> {
    const trouble = this.#isClosed ? 'the log is closed' : this.#trouble
    if (trouble !== undefined) return Promise.reject(new LogUnavailableError(trouble))
    return new Promise((resolve, reject) => {
      const size = CommitRing.framedSize(record)
      this.#waiting.push({ stream, record, size, dedup, resolve, reject })
      this.#waitingBytes += size
      this.#planFlush()
    })
  }

  async read(_partition: number, stream: Stream, from: Offset, maxBytes: number): Promise<ReadResult> {
    const cached = this.#ring.read(stream, from, maxBytes)
    if (cached !== undefined) {
      const last = cached.at(-1)
      return { records: cached, next: last === undefined ? Math.max(from, this.#end) : last.offset + 1 }
    }
    const { records, next } = await this.#thread.call('read', { stream, from, maxBytes })
    return { records: records.map(recordOf), next }
  }

  readBack(_partition: number, before: Offset, maxBytes: number): Promise<FramedResult> {
    if (this.#isClosed) return Promise.reject(new LogUnavailableError('the log is closed'))
    return this.#backThread.call('readBack', { before, maxBytes })
  }

  async scan(_partition: number, from: Offset, maxBytes: number): Promise<FramedResult> {
    if (this.#isClosed) throw new LogUnavailableError('the log is closed')
    // Taken before the read, so that records committed during it are not skipped.
    const end = this.#end
    const { frames, next } = await this.#backThread.call('scan', { from, maxBytes })
    return { frames, next: frames.length === 0 ? Math.max(from, end) : next }
  }

  async get(_partition: number, offsets: readonly Offset[]): Promise<(StoredRecord | undefined)[]> {
    const records = offsets.map((offset) => this.#ring.get(offset))
    const missing = offsets.filter((_, i) => records[i] === undefined)
    if (missing.length === 0) return records
    const stored = await this.#thread.call('get', missing)
    const found = new Map(missing.map((offset, i) => [offset, stored[i]]))
    return records.map((record, i) => record ?? decodeIfFound(found.get(offsets[i]!)))
  }

  async tally(_partition: number, stream: Stream, range: OffsetRange): Promise<Tally> {
    return new Map(await this.#thread.call('tally', { stream, range }))
  }

  oldest(): Promise<{ offset: Offset; acceptedAt: number } | undefined> {
    return this.#thread.call('oldest', undefined)
  }

  oldestUnit(): Promise<OffsetRange | undefined> {
    return this.#thread.call('oldestUnit', undefined)
  }

  end(): Offset {
    return this.#end
  }

  onCommit(listener: (partition: number, stream: Stream) => void): () => void {
    this.#commitListeners.add(listener)
    return () => this.#commitListeners.delete(listener)
  }

  damaged(): readonly OffsetRange[] {
    return this.#damaged
  }

  onDamage(listener: (partition: number, range: OffsetRange) => void): () => void {
    this.#damageListeners.add(listener)
    return () => this.#damageListeners.delete(listener)
  }

  async retain(_partition: number, finishedBefore: Offset, keepMs: number): Promise<void> {
    if (this.#clockJumps.hadOneLately() || this.#retentionHolds > 0) return
    await this.#thread.call('retain', { finishedBefore, keepMs, now: this.#clock.now() })
    this.#sizeBytes = await this.#thread.call('sizeBytes', undefined)
  }

  /** Closes the newest segment. @returns the first offset of the next one. */
  closeNewest(): Promise<Offset> {
    return this.#thread.call('closeNewest', undefined)
  }

  /**
   * Waits until all segments before `end` (from `closeNewest`) are closed, while appends continue. A closed segment is one
   * immutable file, which can be copied while `holdRetention` is in effect.
   *
   * @param signal aborts the wait.
   * @returns the files, oldest first.
   * @throws LogUnavailableError if they are not closed within ten minutes, for example on a full disk.
   * @see contracts/ingest.md §11 [D149]
   */
  async closedSegments(end: Offset, signal?: AbortSignal): Promise<readonly string[]> {
    for (const deadline = this.#clock.monotonic() + MAX_CLOSING_MS; ; ) {
      signal?.throwIfAborted()
      const firsts = await this.#thread.call('closedBefore', end)
      if (firsts !== undefined) return firsts.map((first) => segmentPath(this.#directory, first))
      if (this.#clock.monotonic() >= deadline) throw new LogUnavailableError('a segment could not be closed')
      await new Promise<void>((resolve) => this.#clock.setTimer(resolve, LOOK_AGAIN_MS))
    }
  }

  /** Prevents the deletion of segments until the result is disposed. */
  holdRetention(): Disposable {
    this.#retentionHolds++
    let isHeld = true
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#retentionHolds--
        isHeld = false
      },
    }
  }

  async check(): Promise<void> {
    if (this.#trouble === undefined && this.#clock.monotonic() - this.#lastCommitAt < FRESH_MS) return
    await this.#probe()
    if (this.#trouble !== undefined) throw new LogUnavailableError(this.#trouble)
  }

  trouble(): string | undefined {
    return this.#trouble
  }

  /** The error if the search thread ends repeatedly. */
  readerTrouble(): string | undefined {
    return this.#backThread.trouble()
  }

  sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Finishes pending appends, then closes the files. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#probeTimer?.cancel()
    while (this.#waiting.length > 0 || this.#commitsUnderWay > 0) await new Promise((resolve) => setImmediate(resolve))
    try {
      if (this.#trouble === undefined) await this.#thread.call('close', undefined)
    } finally {
      await Promise.all([this.#thread.stop(), this.#backThread.close()])
    }
  }

  /**
   * Starts a commit when a turn of the event loop added no request, or when it is large enough. So a single request is
   * written at once, and under load many requests share one fsync.
   */
  #planFlush(): void {
    if (this.#isFlushPlanned || !this.#mayCommit()) return
    this.#isFlushPlanned = true
    const waitingBefore = this.#waiting.length
    setImmediate(() => {
      this.#isFlushPlanned = false
      if (this.#waiting.length === waitingBefore || this.#isWorthAnFsync()) this.#commitWaiting()
      else this.#planFlush()
    })
  }

  #commitWaiting(): void {
    while (this.#mayCommit()) void this.#commit(this.#takeWaiting())
  }

  #mayCommit(): boolean {
    if (this.#waiting.length === 0 || this.#commitsUnderWay >= MAX_COMMITS_UNDER_WAY) return false
    return this.#commitsUnderWay === 0 || this.#isWorthAnFsync()
  }

  #isWorthAnFsync(): boolean {
    return this.#waiting.length >= MAX_COMMIT_RECORDS || this.#waitingBytes >= WORTHWHILE_COMMIT_BYTES
  }

  #takeWaiting(): Waiting[] {
    let count = 0
    let bytes = 0
    while (count < this.#waiting.length && count < MAX_COMMIT_RECORDS) {
      bytes += this.#waiting[count]!.size
      if (count > 0 && bytes > MAX_COMMIT_BYTES) break
      count++
    }
    const group = this.#waiting.splice(0, count)
    for (const { size } of group) this.#waitingBytes -= size
    return group
  }

  async #commit(group: Waiting[]): Promise<void> {
    this.#commitsUnderWay++
    const span = this.#ring.write(group)
    let appended: Appended
    try {
      const { start, end } = span
      const message = { start, end, tallies: talliesOf(group), rules: rulesOf(group) }
      appended = await this.#thread.call('append', message)
    } catch (error) {
      this.#commitsUnderWay--
      this.#ring.failed(span)
      this.#fail(error as Error)
      for (const { reject } of group) reject(new LogUnavailableError((error as Error).message, { cause: error }))
      return
    }
    this.#commitsUnderWay--
    this.#ring.stored(span, appended.first, appended.duplicates)
    this.#publish(group, appended, span.end - span.start)
    this.#planFlush()
  }

  #publish(group: Waiting[], { first, duplicates }: Appended, bytes: number): void {
    this.#lastCommitAt = this.#clock.monotonic()
    this.#sizeBytes += bytes
    this.#end = first + group.length
    for (const stream of new Set(group.map((waiting) => waiting.stream))) {
      for (const listener of this.#commitListeners) listener(0, stream)
    }
    for (const [place, indexes] of duplicates) group[place]!.dedup?.onDuplicates?.(indexes)
    for (const [i, { resolve }] of group.entries()) resolve(first + i)
  }

  #fail(error: Error): void {
    this.#trouble = error.message
    this.#waitingBytes = 0
    for (const { reject } of this.#waiting.splice(0)) reject(new LogUnavailableError(error.message, { cause: error }))
    if (!this.#isClosed) this.#planProbe()
  }

  /** While appends fail, tests one commit a second; appends resume with the first success. */
  #planProbe(): void {
    this.#probeTimer?.cancel()
    this.#probeTimer = this.#clock.setTimer(() => {
      this.#probeTimer = undefined
      void this.#probe()
    }, PROBE_INTERVAL_MS)
  }

  async #probe(): Promise<void> {
    try {
      await this.#thread.call('probe', undefined)
      this.#lastCommitAt = this.#clock.monotonic()
      this.#trouble = undefined
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  #noteDamage({ range }: DamageNotice): void {
    this.#damaged = [...this.#damaged, range].sort((a, b) => a.from - b.from)
    this.#end = Math.max(this.#end, range.to)
    for (const listener of this.#damageListeners) listener(0, range)
  }
}

interface Hooks {
  onNotice?: (notice: DamageNotice) => void
  onEnd?: (error: Error) => void
}

function rulesOf(group: readonly Waiting[]): CommitMessage['rules'] {
  return group.flatMap(({ dedup }, place) => (dedup === undefined ? [] : [[place, ruleOf(dedup)] as const]))
}

/** The rule without its listener, which stays in this thread. */
function ruleOf(dedup: Dedup): DedupRule {
  return 'windowMs' in dedup ? { windowMs: dedup.windowMs } : { attempt: dedup.attempt }
}

function talliesOf(group: readonly Waiting[]): CommitMessage['tallies'] {
  const tallies = new Map<Stream, Tally>()
  for (const { stream, record, size } of group) {
    const tally: Tally = tallies.get(stream) ?? new Map()
    tallies.set(stream, tally)
    addToTally(tally, record.header.sourceId, eventCount(record.header), size)
  }
  return [...tallies].map(([stream, tally]) => ({
    stream,
    counts: [...tally].map(([sourceId, { events, bytes }]): [string, number, number] => [sourceId, events, bytes]),
  }))
}

function decodeIfFound(record: EncodedRecord | undefined): StoredRecord | undefined {
  return record && recordOf(record)
}
