import type { EventRecord, Route } from '@millrace/protocol/record'
import type { Dedup } from './dedup.ts'

/** Live events, and backfills (history sent in bulk). Events are ordered within a stream, not across streams. */
export const STREAMS = ['live', 'backfill'] as const
export type Stream = (typeof STREAMS)[number]

/** The stream of a record. */
export function streamOf({ route }: { readonly route: Route }): Stream {
  return route === 'backfill' ? 'backfill' : 'live'
}

/**
 * Place of a record in its partition. Increases with gaps; both streams share one counter. Compare offsets only within a
 * partition; outside the log, do no arithmetic with them.
 */
export type Offset = number

export interface StoredRecord extends EventRecord {
  readonly offset: Offset
  /** Indexes of duplicate events: they can be traced, but are neither counted nor delivered. */
  readonly duplicates?: ReadonlySet<number>
}

/** Events and bytes in a range of offsets, by source id. */
export type Tally = Map<string, { events: number; bytes: number }>

/** `from` ≤ offset < `to`. */
export interface OffsetRange {
  readonly from: Offset
  readonly to: Offset
}

export interface ReadResult {
  /** In offset order; empty at the end of the log. */
  readonly records: readonly StoredRecord[]
  /** Offset for the next read. */
  readonly next: Offset
  /** Offsets that a broker's retention deleted before they were read, if the read began before the first record. */
  readonly gap?: OffsetRange
}

/** Result of `readBack` and `scan`: bytes that can be transferred to another thread without copying. */
export interface FramedResult {
  /** Encoded records in reading order, decoded by `framedRecords`; empty if there are none. */
  readonly frames: Uint8Array<ArrayBuffer>
  /** Where to continue: backwards before it, until it is 0; forwards from it, until the end. */
  readonly next: Offset
}

/** A record with its place in the log. @see LogWriter.append */
export interface Append {
  readonly partition: number
  readonly stream: Stream
  readonly record: EventRecord
  readonly dedup?: Dedup | undefined
}

/** The way into the log. An engine is both this and an EventLog. */
export interface LogWriter {
  /**
   * Appends one record to a stream of a partition; resolves once it survives the loss of power. Records of one partition
   * get their offsets in the order of the calls.
   *
   * @param partition that of the source. An engine that keeps backfills apart, so that history cannot delay live events, stores
   * them in the partition that follows by half of `partitions`.
   * @param dedup rule for duplicates. The commit decides which events are duplicates and stores the result, so that every
   * reader sees the same, also after a restart. Both streams share their keys.
   * @throws LogUnavailableError if the record could not be stored; then no reader of this process ever sees it, unless
   * the error says that this is unknown.
   */
  append(partition: number, stream: Stream, record: EventRecord, dedup?: Dedup): Promise<Offset>
  /**
   * Appends the records of one request, which may lie in several partitions; resolves once each survives the loss of power. An
   * engine with one commit for all partitions stores all of them or none. Other engines may have stored some when it fails.
   *
   * @throws LogUnavailableError as `append`.
   */
  appendAll(appends: readonly Append[]): Promise<Offset[]>

  /** Resolves if the last commit succeeded less than two seconds ago, else tries one. @throws LogUnavailableError */
  check(): Promise<void>

  /** Why appends are currently refused, without waiting; undefined if they are accepted. */
  trouble(): string | undefined
}

/**
 * The ordered, durable, replayable log of accepted events. One contract for all engines; conformance.ts tests each engine
 * against it.
 *
 * @see contracts/ingest.md §11, decision 0003
 */
export interface EventLog extends AsyncDisposable {
  /** Records are ordered within a partition. Whoever appends chooses the partition. */
  readonly partitions: number

  /** Partitions that sources have: all, or the first half in an engine that keeps backfills apart. @see LogWriter.append */
  readonly homes: number

  /**
   * Reads a stream from `from` on, up to `maxBytes` of records, but at least one record if there is one. Does not wait for
   * new records. Skips offsets deleted by retention or lost to damage; see `damaged`.
   */
  read(partition: number, stream: Stream, from: Offset, maxBytes: number): Promise<ReadResult>

  /**
   * Reads both streams backwards: records before `before`, up to `maxBytes`, but at least one record if there is one. Used
   * for searches, so it neither waits for appends nor delays them. Skips damaged records.
   */
  readBack(partition: number, before: Offset, maxBytes: number): Promise<FramedResult>

  /**
   * Reads both streams forwards from `from` on, in offset order. Like `readBack`, it does not delay appends; damage that it
   * passes over is in `damaged` afterwards.
   */
  scan(partition: number, from: Offset, maxBytes: number): Promise<FramedResult>

  /** The records at these offsets, in the given order; undefined for those that no longer exist. */
  get(partition: number, offsets: readonly Offset[]): Promise<(StoredRecord | undefined)[]>

  /** Counts events (without duplicates) and bytes of a stream in a range, by source. Cost: O(commits), not O(bytes). */
  tally(partition: number, stream: Stream, range: OffsetRange): Promise<Tally>

  /** The oldest retained offset and its acceptance time; undefined for an empty partition. */
  oldest(partition: number): Promise<{ offset: Offset; acceptedAt: number } | undefined>

  /** The offset before which records were deleted; 0 if none were. */
  deletedBefore(partition: number): Promise<Offset>

  /** The oldest storage unit that `retain` could delete; undefined if there is none, or if the broker deletes by itself. */
  oldestUnit(partition: number): Promise<OffsetRange | undefined>

  /** One past the last record that can be read, without waiting. */
  end(partition: number): Offset

  /** Calls back after each commit to a stream, before its `append` resolves. @returns a function that unsubscribes. */
  onCommit(listener: (partition: number, stream: Stream) => void): () => void

  /** Ranges lost to damage, oldest first. */
  damaged(partition: number): readonly OffsetRange[]

  /** Calls back when damage is found. @returns a function that unsubscribes. */
  onDamage(listener: (partition: number, range: OffsetRange) => void): () => void

  /**
   * Deletes storage units whose records have all been before `finishedBefore` for `keepMs`. A unit with records of several
   * partitions waits until each of them has been retained past it. Engines whose broker deletes by itself do nothing.
   *
   * @param keepMs 0: at once, also what a restart needs to know duplicates of the last day.
   */
  retain(partition: number, finishedBefore: Offset, keepMs: number): Promise<void>

  /** Size of the log on disk, in bytes. */
  sizeBytes(): number
}

/** The log for those who only read it and follow it. */
export type LogReader = Omit<
  EventLog,
  'damaged' | 'deletedBefore' | 'oldestUnit' | 'retain' | 'sizeBytes' | typeof Symbol.asyncDispose
>

/**
 * An append failed or was refused: the record is not visible, and never becomes visible in this process, unless that is
 * unknown. Or a read got no answer.
 */
export class LogUnavailableError extends Error {
  override name = 'LogUnavailableError'
  readonly code = 'LOG_UNAVAILABLE'
  /** The record may be stored whole, now or later, as after a broken connection. */
  readonly isUnknown: boolean

  constructor(message: string, { cause, isUnknown = false }: { cause?: unknown; isUnknown?: boolean } = {}) {
    super(message, cause === undefined ? {} : { cause })
    this.isUnknown = isUnknown
  }
}
