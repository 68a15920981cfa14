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
  /** Made if it is missing. */
  readonly directory: string
  readonly clock: Clock
  /** Offsets that readers have already passed: the next record comes after them, even if the log was cut. Default 0. */
  readonly notBefore?: Offset
  /** Whether a source has a dedup window: then what it holds is read at once. Default false. */
  readonly hasDedup?: boolean
  /** Default 256 MB. */
  readonly segmentBytes?: number
  /** Default one hour. */
  readonly segmentMs?: number
  /** Memory from which the newest records are read. Default 32 MB. */
  readonly cacheBytes?: number
  /** Of one encoded record. Default 4 MiB. */
  readonly maxRecordBytes?: number
  /** The thread that writes ended: nothing can be appended any more. */
  readonly onFault?: (error: Error) => void
  /** The thread that looks back ended; it starts again. */
  readonly onReaderEnd?: (error: Error) => void
}

const MAX_COMMIT_RECORDS = 64
const MAX_COMMIT_BYTES = 4 * 1024 * 1024
/** Bytes that make a commit worth its fsync, even if more records may come. */
const WORTHWHILE_COMMIT_BYTES = 256 * 1024
/** While one commit is being synced the next is made ready behind it. */
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
 * The event log in a row of SQLite files, one partition, written by a thread of its own. Appends that come while a
 * commit is under way go into the next one together, so each fsync serves as many requests as there are.
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
    // What is committed meanwhile is not passed over.
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

  /** Ends the newest segment: the next record goes into a new one. @returns where that one begins. */
  closeNewest(): Promise<Offset> {
    return this.#thread.call('closeNewest', undefined)
  }

  /**
   * Waits until all segments before `end`, which `closeNewest` has returned, are closed; appends go on meanwhile. A closed
   * segment is one file that is never written again: to be copied as it is, while retention is held.
   *
   * @param signal ends the wait.
   * @returns the files, oldest first.
   * @throws LogUnavailableError when they have not been closed within ten minutes, as on a full disk.
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

  /** Keeps every segment that there is until the result is disposed of. */
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

  /** That the thread which looks back ends again and again. */
  readerTrouble(): string | undefined {
    return this.#backThread.trouble()
  }

  sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Finishes the appends that were begun, then closes the files. */
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
   * A commit is begun when a turn of the event loop has brought no further request, or enough have come. So a lone
   * request goes to disk at once, and under load as many as possible share the cost of one fsync.
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

  /** While appends fail, one commit a second is tried; the first that succeeds ends the trouble. */
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

/** Without its listener, which stays in this thread. */
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
