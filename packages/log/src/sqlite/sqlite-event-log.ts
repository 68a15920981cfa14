import { MessageChannel } from 'node:worker_threads'
import type { EventRecord } from '@millrace/protocol'
import { type Clock, ClockJumps, ReaderThread, ThreadCalls } from '@millrace/std'
import type { Dedup } from '../dedup.ts'
import {
  type Append,
  type EventLog,
  type FramedResult,
  LogUnavailableError,
  type LogWriter,
  type Offset,
  type OffsetRange,
  type ReadResult,
  STREAMS,
  type StoredRecord,
  type Stream,
  type Tally,
} from '../event-log.ts'
import { knownRecords, recordOf } from '../frames.ts'
import { CommitRing } from './commit-ring.ts'
import { GroupCommit, MAX_COMMIT_BYTES } from './group-commit.ts'
import { KnownEnds } from './known-ends.ts'
import type { BackCalls, DamageNotice, LogCalls, LogThreadData } from './log-calls.ts'
import type { EncodedRecord } from './segments/commit.ts'
import { segmentPath } from './segments/segment-files.ts'
import { streamNumber } from './segments/stream-number.ts'
import type { SharedLog } from './thread-event-log.ts'

export interface SqliteEventLogOptions {
  /** Created if missing. */
  readonly directory: string
  readonly clock: Clock
  /** 1 to 256, default 1. A folder may be opened with more than before, not with fewer. */
  readonly partitions?: number
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
  /** Maximum size of an encoded record, and of the records of one `appendAll` together. Default 4 MiB. */
  readonly maxRecordBytes?: number
  /** Called when the log thread ended, also while it opens: no more appends are possible. */
  readonly onFault?: (error: Error) => void
  /** Called when the search thread ended; it restarts. */
  readonly onReaderEnd?: (error: Error) => void
  /** Called when records are found to be lost to damage, also while it opens. */
  readonly onDamage?: (notice: DamageNotice) => void
}

const LOOK_AGAIN_MS = 50
const MAX_CLOSING_MS = 600_000

/** The event log on SQLite files, written by a separate thread. All partitions share one offset counter and each commit. */
export class SqliteEventLog implements EventLog, LogWriter {
  readonly partitions: number
  readonly homes: number
  readonly #directory: string
  readonly #clock: Clock
  readonly #clockJumps: ClockJumps
  readonly #thread: ThreadCalls<LogCalls, DamageNotice>
  readonly #ring: CommitRing
  readonly #writer: GroupCommit
  readonly #backThread: ReaderThread<BackCalls>
  readonly #ends: KnownEnds
  #sizeBytes: number
  #isClosed = false
  #retentionHolds = 0
  /** By partition. */
  readonly #retainedUpTo: Offset[]

  static async open(options: SqliteEventLogOptions): Promise<SqliteEventLog> {
    const data: LogThreadData = {
      directory: options.directory,
      notBefore: options.notBefore ?? 0,
      hasDedup: options.hasDedup ?? false,
      segmentBytes: options.segmentBytes ?? 256 * 1024 * 1024,
      segmentMs: options.segmentMs ?? 3_600_000,
    }
    const hooks: Hooks = { onEnd: (error) => options.onFault?.(error) }
    const thread = new ThreadCalls<LogCalls, DamageNotice>({
      file: new URL('./log-thread.ts', import.meta.url),
      name: 'log',
      data,
      onNotice: (notice) => {
        options.onDamage?.(notice)
        hooks.onNotice?.(notice)
      },
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
    this.partitions = options.partitions ?? 1
    this.homes = this.partitions
    this.#retainedUpTo = Array.from({ length: this.partitions }, () => 0)
    this.#ring = ring
    this.#directory = options.directory
    this.#clock = options.clock
    this.#clockJumps = new ClockJumps(options.clock)
    this.#thread = thread
    this.#ends = new KnownEnds(this.partitions, opened.end, opened.damaged)
    this.#sizeBytes = opened.sizeBytes
    this.#writer = new GroupCommit({
      thread,
      ring,
      clock: options.clock,
      onCommit: ({ end, bytes, streams }) => {
        this.#sizeBytes += bytes
        this.#ends.noteCommit(streams, end)
      },
    })
    hooks.onNotice = ({ range }) => this.#ends.noteDamage(range)
    this.#backThread = new ReaderThread({
      file: new URL('./back-thread.ts', import.meta.url),
      name: 'log-back',
      data: () => ({ data: options.directory }),
      clock: options.clock,
      ...(options.onReaderEnd === undefined ? {} : { onEnd: options.onReaderEnd }),
    })
    hooks.onEnd = (error) => {
      this.#writer.threadEnded(error)
      options.onFault?.(error)
    }
  }

  append(partition: number, stream: Stream, record: EventRecord, dedup?: Dedup): Promise<Offset> {
    if (!(partition >= 0 && partition < this.partitions))
      return Promise.reject(new RangeError(`no partition ${partition}`))
    return this.#writer.append(streamNumber(partition, stream), record, dedup)
  }

  async appendAll(appends: readonly Append[]): Promise<Offset[]> {
    const missing = appends.find(({ partition }) => !(partition >= 0 && partition < this.partitions))
    if (missing !== undefined) throw new RangeError(`no partition ${missing.partition}`)
    return this.#writer.appendAll(
      appends.map(({ partition, stream, record, dedup }) => ({
        stream: streamNumber(partition, stream),
        record,
        dedup,
      })),
    )
  }

  async read(partition: number, stream: Stream, from: Offset, maxBytes: number): Promise<ReadResult> {
    const number = streamNumber(partition, stream)
    // Taken before the read, so that records committed during it are not skipped.
    const end = this.end(partition)
    const cached = this.#ring.read(number, from, maxBytes)
    if (cached !== undefined) {
      const last = cached.at(-1)
      return { records: cached, next: last === undefined ? Math.max(from, end) : last.offset + 1 }
    }
    const records = knownRecords((await this.#thread.call('read', { stream: number, from, maxBytes })).records)
    return { records, next: records.length === 0 ? Math.max(from, end) : records.at(-1)!.offset + 1 }
  }

  readBack(partition: number, before: Offset, maxBytes: number): Promise<FramedResult> {
    if (this.#isClosed) return Promise.reject(new LogUnavailableError('the log is closed'))
    return this.#backThread.call('readBack', { partition, before, maxBytes })
  }

  async scan(partition: number, from: Offset, maxBytes: number): Promise<FramedResult> {
    if (this.#isClosed) throw new LogUnavailableError('the log is closed')
    // As in `read`.
    const end = this.end(partition)
    const { frames, next, damaged } = await this.#backThread.call('scan', { partition, from, maxBytes })
    // The log thread finds the same damage, sets the segment aside, and tells of it.
    for (const first of damaged) {
      for (const stream of STREAMS) {
        const range = { from: Math.max(from, first), maxBytes }
        await this.#thread.call('read', { stream: streamNumber(partition, stream), ...range })
      }
    }
    return { frames, next: frames.length === 0 ? Math.max(from, end) : next }
  }

  async get(partition: number, offsets: readonly Offset[]): Promise<(StoredRecord | undefined)[]> {
    const records = offsets.map((offset) => this.#ring.get(partition, offset))
    const missing = offsets.filter((_, i) => records[i] === undefined)
    const stored = missing.length === 0 ? [] : await this.#thread.call('get', { partition, offsets: missing })
    const found = new Map(missing.map((offset, i) => [offset, stored[i]]))
    return records.map((record, i) => {
      return record === 'elsewhere' ? undefined : (record ?? decodeIfFound(found.get(offsets[i]!)))
    })
  }

  async tally(partition: number, stream: Stream, range: OffsetRange): Promise<Tally> {
    return new Map(await this.#thread.call('tally', { stream: streamNumber(partition, stream), range }))
  }

  oldest(partition: number): Promise<{ offset: Offset; acceptedAt: number } | undefined> {
    return this.#thread.call('oldest', partition)
  }

  deletedBefore(): Promise<Offset> {
    return this.#thread.call('deletedBefore', undefined)
  }

  oldestUnit(): Promise<OffsetRange | undefined> {
    return this.#thread.call('oldestUnit', undefined)
  }

  end(partition: number): Offset {
    return this.#ends.of(partition)
  }

  onCommit(listener: (partition: number, stream: Stream) => void): () => void {
    return this.#ends.onCommit(listener)
  }

  damaged(): readonly OffsetRange[] {
    return this.#ends.damaged
  }

  onDamage(listener: (partition: number, range: OffsetRange) => void): () => void {
    return this.#ends.onDamage(listener)
  }

  async retain(partition: number, finished: Offset, keepMs: number): Promise<void> {
    this.#retainedUpTo[partition] = finished
    const finishedBefore = Math.min(this.#ends.end, ...this.#retainedUpTo)
    const mayDelete = () => !this.#clockJumps.hadOneLately() && this.#retentionHolds === 0
    while (mayDelete() && (await this.#thread.call('retain', { finishedBefore, keepMs, now: this.#clock.now() }))) {}
    this.#sizeBytes = await this.#thread.call('sizeBytes', undefined)
  }

  /** What another thread needs for a `ThreadEventLog`; the port moves to it. */
  share(): SharedLog {
    const ends = this.#ends.share()
    const { port1, port2 } = new MessageChannel()
    // The other end sees that the port is closed, because nothing will answer it.
    this.#thread.call('connect', port1, [port1]).catch(() => port2.close())
    const commits = this.#ring.share(this.#ends.end).memory
    return { directory: this.#directory, ends, ring: this.#ring.memory, commits, port: port2 }
  }

  /** Reads the segment in which another thread could not read a record, so that damage is found and it is set aside. */
  inspect(offset: Offset): Promise<void> {
    return this.#thread.call('inspect', offset)
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

  check(): Promise<void> {
    return this.#writer.check()
  }

  trouble(): string | undefined {
    return this.#writer.trouble
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
    await this.#writer.close()
    try {
      if (this.#writer.trouble === undefined) await this.#thread.call('close', undefined)
    } finally {
      await Promise.all([this.#thread.stop(), this.#backThread.close()])
    }
  }
}

interface Hooks {
  onNotice?: (notice: DamageNotice) => void
  onEnd?: (error: Error) => void
}

function decodeIfFound(record: EncodedRecord | undefined): StoredRecord | undefined {
  return record && recordOf(record)
}
