import type { EventRecord, Route } from '@millrace/protocol'
import type { Dedup } from './dedup.ts'

/** Live events, and backfills: history that clients send in bulk. Order holds inside each, not between them. */
export const STREAMS = ['live', 'backfill'] as const
export type Stream = (typeof STREAMS)[number]

/** The stream in which a record lies. */
export function streamOf({ route }: { readonly route: Route }): Stream {
  return route === 'backfill' ? 'backfill' : 'live'
}

/**
 * Place of a record in its partition. Grows from record to record, with gaps; both streams share one counter. Compared
 * only inside a partition, and never computed with outside the log.
 */
export type Offset = number

export interface StoredRecord extends EventRecord {
  readonly offset: Offset
  /** Indexes of the events that are duplicates: they are there to be found, and are neither counted nor delivered. */
  readonly duplicates?: ReadonlySet<number>
}

/** What a range of offsets holds of each source, by source id. */
export type Tally = Map<string, { events: number; bytes: number }>

/** `from` ≤ offset < `to`. */
export interface OffsetRange {
  readonly from: Offset
  readonly to: Offset
}

export interface ReadResult {
  /** In order of their offsets; empty at the end of the log. */
  readonly records: readonly StoredRecord[]
  /** Where to read on. */
  readonly next: Offset
}

/** What `readBack` and `scan` give: bytes, so that another thread can be handed them as they are. */
export interface FramedResult {
  /** Encoded records in the order of the reading; `framedRecords` reads them. Empty when there are none. */
  readonly frames: Uint8Array<ArrayBuffer>
  /** Where to read on: back before it, until it is 0; on from it, until it is the end. */
  readonly next: Offset
}

/**
 * The ordered, durable, replayable row of what was accepted. One contract, several engines: whatever this says is shown
 * for each of them by conformance.ts.
 *
 * @see contracts/ingest.md §11, decision 0003
 */
export interface EventLog extends AsyncDisposable {
  readonly partitions: number

  /** The partition that holds the events of a source. */
  partitionOf(sourceId: string): number

  /**
   * Appends one record to a stream of its source's partition; resolves once it survives the loss of power. Records of
   * one source get their offsets in the order of the calls.
   *
   * @param dedup of a source with a window. What is a duplicate is decided with the commit and stored beside it, so that
   * every reader finds the same, also after a restart. Both streams share what they know.
   * @throws LogUnavailableError if it could not be stored; then no reader of this process ever sees it.
   */
  append(stream: Stream, record: EventRecord, dedup?: Dedup): Promise<Offset>

  /**
   * Reads a stream from `from` on, up to `maxBytes` of records, but at least one if there is one. Never waits for more
   * to come. Offsets that retention dropped or damage took are passed over; see `damaged`.
   */
  read(partition: number, stream: Stream, from: Offset, maxBytes: number): Promise<ReadResult>

  /**
   * Reads both streams backwards: records before `before`, up to `maxBytes` of them, but at least one if there is one.
   * For people who look at what was, so it neither waits for an append nor makes one wait. What damage took is passed over.
   */
  readBack(partition: number, before: Offset, maxBytes: number): Promise<FramedResult>

  /** Reads both streams forwards, in the order of their offsets, beside everybody else like `readBack`: records from `from` on. */
  scan(partition: number, from: Offset, maxBytes: number): Promise<FramedResult>

  /** The records at these offsets, in the order asked for; undefined for those that are not there any more. */
  get(partition: number, offsets: readonly Offset[]): Promise<(StoredRecord | undefined)[]>

  /** Events (but for duplicates) and bytes that a stream holds in a range, by source: what it costs is the range's commits, not its bytes. */
  tally(partition: number, stream: Stream, range: OffsetRange): Promise<Tally>

  /** The oldest offset that is still kept, and when its record was accepted; undefined of an empty partition. */
  oldest(partition: number): Promise<{ offset: Offset; acceptedAt: number } | undefined>

  /** The oldest storage unit that `retain` could give back; undefined where there is none, or the broker sees to that. */
  oldestUnit(partition: number): Promise<OffsetRange | undefined>

  /** What the next appended record will reach at least. Known without waiting. */
  end(partition: number): Offset

  /** Calls back after each commit to a stream, before its `append` resolves. @returns a function that stops it. */
  onCommit(listener: (partition: number, stream: Stream) => void): () => void

  /** Ranges that were lost to damage, oldest first. */
  damaged(partition: number): readonly OffsetRange[]

  /** Calls back when damage is found. @returns a function that stops it. */
  onDamage(listener: (partition: number, range: OffsetRange) => void): () => void

  /**
   * Gives back the space of what is no longer needed: of storage units all of whose records are before `finishedBefore`
   * and have been so for `keepMs`. Engines whose broker does this itself do nothing.
   */
  retain(partition: number, finishedBefore: Offset, keepMs: number): Promise<void>

  /** Resolves if the last commit succeeded less than two seconds ago, else tries one. @throws LogUnavailableError */
  check(): Promise<void>

  /** Why appends are refused at the moment, known without waiting; undefined when they are not. */
  trouble(): string | undefined

  /** Bytes of disk that the log takes. */
  sizeBytes(): number
}

/** An append failed or is refused: nothing of the record is or becomes visible while this process lives. */
export class LogUnavailableError extends Error {
  override name = 'LogUnavailableError'
  readonly code = 'LOG_UNAVAILABLE'
}
