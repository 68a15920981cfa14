import type { MessagePort } from 'node:worker_threads'
import { PortCalls } from '@millrace/std'
import type {
  FramedResult,
  LogReader,
  Offset,
  OffsetRange,
  ReadResult,
  StoredRecord,
  Stream,
  Tally,
} from '../event-log.ts'
import { STREAMS } from '../event-log.ts'
import { recordOf } from '../frames.ts'
import { BackReader } from './back-reader.ts'
import { ForwardReader } from './forward-reader.ts'
import type { LookUpCalls } from './log-calls.ts'
import { LogEnds } from './log-ends.ts'
import { streamNumber } from './segments/stream-number.ts'
import { SharedCommits } from './shared-commits.ts'

/** A read that begins this near to the end follows the log; others are of readers that fell behind. */
const NEAR_OFFSETS = 10_000
/** A deleted segment keeps its space on disk for at most this long. */
const RELEASE_MS = 10_000

/** What `SqliteEventLog.share` gives to a thread; the port moves to it. */
export interface SharedLog {
  readonly directory: string
  readonly ends: SharedArrayBuffer
  /** The ring of the newest records, and which commits it has. */
  readonly ring: SharedArrayBuffer
  readonly commits: SharedArrayBuffer
  readonly port: MessagePort
}

/**
 * The event log for another thread of its process: it reads the newest records from the ring that they are stored from, and
 * others from the files, so that reading takes no time from the log thread. Single records and counts are looked up there.
 */
export class ThreadEventLog implements LogReader {
  readonly partitions: number
  readonly homes: number
  readonly #ends: LogEnds
  readonly #ring: Buffer
  readonly #commits: SharedCommits
  readonly #lookUps: PortCalls<LookUpCalls>
  readonly #port: MessagePort
  readonly #newest: ForwardReader
  readonly #older: ForwardReader
  readonly #back: BackReader
  readonly #commitListeners = new Set<(partition: number, stream: Stream) => void>()
  readonly #damageListeners = new Set<(partition: number, range: OffsetRange) => void>()
  readonly #told: Offset[]
  readonly #releasing: NodeJS.Timeout
  #isClosed = false

  /**
   * @param onDamage called for damage that a read passes over: an offset near it.
   * @param onEnd called when the log thread is gone.
   */
  constructor(shared: SharedLog, onDamage: (offset: Offset) => void, onEnd: (error: Error) => void) {
    const { directory, ends, ring, commits, port } = shared
    this.#ring = Buffer.from(ring)
    this.#commits = new SharedCommits(commits)
    this.#ends = new LogEnds(ends)
    this.partitions = this.#ends.partitions
    this.homes = this.partitions
    this.#port = port
    this.#lookUps = new PortCalls(port, (error) => {
      if (!this.#isClosed) onEnd(error)
    })
    this.#newest = new ForwardReader(directory, onDamage)
    this.#older = new ForwardReader(directory, onDamage)
    this.#back = new BackReader(directory)
    this.#told = this.#streams().map(({ partition, stream }) => this.#ends.end(partition, stream))
    this.#releasing = setInterval(() => this.releaseDeleted(), RELEASE_MS).unref()
    void this.#tellOfCommits()
  }

  async read(partition: number, stream: Stream, from: Offset, maxBytes: number): Promise<ReadResult> {
    const end = this.end(partition)
    if (from >= end) return { records: [], next: from }
    const newest = this.#commits.read(this.#ring, streamNumber(partition, stream), from, end, maxBytes)
    if (newest !== undefined) return newest
    const reader = end - from <= NEAR_OFFSETS ? this.#newest : this.#older
    return reader.read(partition, stream, from, end, maxBytes)
  }

  async scan(partition: number, from: Offset, maxBytes: number): Promise<FramedResult> {
    const end = this.end(partition)
    const { frames, next } = this.#back.scan(partition, from, maxBytes)
    return { frames, next: frames.length === 0 ? Math.max(from, end) : next }
  }

  async readBack(partition: number, before: Offset, maxBytes: number): Promise<FramedResult> {
    return this.#back.read(partition, before, maxBytes)
  }

  async get(partition: number, offsets: readonly Offset[]): Promise<(StoredRecord | undefined)[]> {
    const found = await this.#lookUps.call('get', { partition, offsets })
    return found.map((record) => record && recordOf(record))
  }

  async tally(partition: number, stream: Stream, range: OffsetRange): Promise<Tally> {
    const number = partition * STREAMS.length + STREAMS.indexOf(stream)
    return new Map(await this.#lookUps.call('tally', { stream: number, range }))
  }

  oldest(partition: number): Promise<{ offset: Offset; acceptedAt: number } | undefined> {
    return this.#lookUps.call('oldest', partition)
  }

  end(partition: number): Offset {
    return Math.max(...STREAMS.map((stream) => this.#ends.end(partition, stream)))
  }

  onCommit(listener: (partition: number, stream: Stream) => void): () => void {
    this.#commitListeners.add(listener)
    return () => this.#commitListeners.delete(listener)
  }

  onDamage(listener: (partition: number, range: OffsetRange) => void): () => void {
    this.#damageListeners.add(listener)
    return () => this.#damageListeners.delete(listener)
  }

  /** The log thread found damage. */
  noteDamage(partition: number, range: OffsetRange): void {
    for (const listener of this.#damageListeners) listener(partition, range)
  }

  /** Closes files that were deleted, which frees their space. Called every 10 s. */
  releaseDeleted(): void {
    for (const reader of [this.#newest, this.#older]) reader.releaseDeleted()
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#releasing)
    this.#port.close()
    this.#newest.release()
    this.#older.release()
  }

  async #tellOfCommits(): Promise<void> {
    while (!this.#isClosed) {
      const seen = this.#ends.changes
      for (const [number, { partition, stream }] of this.#streams().entries()) {
        const end = this.#ends.end(partition, stream)
        if (end === this.#told[number]) continue
        this.#told[number] = end
        for (const listener of this.#commitListeners) listener(partition, stream)
      }
      await this.#ends.changed(seen)
    }
  }

  #streams(): { partition: number; stream: Stream }[] {
    return Array.from({ length: this.partitions }, (_, partition) =>
      STREAMS.map((stream) => ({ partition, stream })),
    ).flat()
  }
}
