import type { EventPlaceKey, Lane, LaneEvent, Position } from '@millrace/delivery'
import { type LogReader, type OffsetRange, STREAMS, type StoredRecord } from '@millrace/log'
import type { Activity } from '../following/activity.ts'
import { EventIntake, type EventIntakeOptions } from './event-intake.ts'
import { type OnOffered, takeOneByOne } from './offered-event.ts'
import { BACKFILL, LIVE, PartitionFeed, type PartitionFeedOptions } from './partition-feed.ts'

const MIN_READ_BYTES = 16 * 1024
const MAX_READ_BYTES = 256 * 1024
/** Maximum of backfill events in a lane: they fill the gaps of live traffic and must not displace it. */
const MAX_BACKFILL = 100
/** A lane that fell behind reads again when it has room for this many events: smaller reads are inefficient. */
const WORTHWHILE_ROOM = 100

/**
 * Passes the events of a destination's sources to its lane. While the lane keeps up, it takes them from the shared
 * reader. When the lane is full, it leaves the shared reader, reads its own range as room permits, and rejoins at the
 * end.
 */
export class Feed {
  readonly partitions: readonly number[]
  readonly #options: FeedOptions
  readonly #intake: EventIntake
  readonly #feeds: readonly PartitionFeed[]
  /** By partition; holes for those that it does not read. */
  readonly #byPartition: PartitionFeed[] = []
  /** By partition: `pull` is reading. */
  readonly #isPulling: boolean[] = []
  #isClosed = false
  #isAlone = false

  constructor(options: FeedOptions) {
    this.#options = options
    this.partitions = options.partitions
    this.#intake = new EventIntake(options)
    this.#feeds = options.partitions.map((partition) => new PartitionFeed(partition, options))
    for (const feed of this.#feeds) this.#byPartition[feed.partition] = feed
    for (const [partition, offset, index] of options.done) this.#of(partition).remember({ offset, index }, 'done')
    for (const wait of options.waiting) this.#of(wait.partition).remember(wait, wait)
  }

  get activity(): Activity {
    return this.#intake.activity
  }

  /**
   * Follows other connections. A connection that began before the place of this reader is read from its beginning.
   *
   * @returns whether a place went back.
   */
  follow(activity: Activity): boolean {
    const before = this.activity
    this.#intake.activity = activity
    let wentBack = false
    for (const feed of this.#feeds) if (feed.goBack(activity, before)) wentBack = true
    if (wentBack) this.#options.outcomes.moved()
    return wentBack
  }

  /** The connection of a source was removed, and the lane dropped these events. Another one may follow: `follow` tells. */
  dropped(sourceId: string, events: readonly LaneEvent[]): void {
    const byPartition = Map.groupBy(events, ({ partition }) => partition)
    for (const feed of this.#feeds) feed.dropped(sourceId, byPartition.get(feed.partition) ?? [])
  }

  /** Takes a record from the shared reader, unless this lane is behind. */
  offer(partition: number, record: StoredRecord): void {
    const feed = this.#of(partition)
    // The lane may have read ahead of the shared reader before it rejoined.
    if (!feed.isAttached || this.#isClosed || record.offset < feed.streams[LIVE].cursor.offset) return
    if (this.#isAlone) {
      feed.detachAt({ offset: record.offset, index: 0 })
      return
    }
    let index: number | undefined
    try {
      index = this.#intake.take(feed, LIVE, record, 0, Number.POSITIVE_INFINITY)
    } catch (error) {
      // Other lanes still get the record; this one reads it again.
      index = this.#intake.reached
      this.#fail(error as Error)
    }
    if (index !== undefined) feed.detachAt({ offset: record.offset, index })
  }

  /** The shared reader comes to a gap: this one reads it by itself, and reports what it had not read. */
  leaveTail(partition: number): void {
    const feed = this.#of(partition)
    if (!feed.isAttached || this.#isClosed) return
    feed.detachAt(feed.cursor(LIVE))
    // The shared reader has passed the gap by then.
    queueMicrotask(() => this.pull())
  }

  /** Takes the events at its own place in the log that fit; call it when there may be room or new events. */
  pull(): void {
    for (const feed of this.#feeds)
      if (!this.#isPulling[feed.partition] && this.#wants(feed)) this.#pull(feed).catch((error) => this.#fail(error))
  }

  /** Until `endAlone` only `takeOneByOne` takes events. */
  beginAlone(): void {
    this.#isAlone = true
  }

  endAlone(): void {
    this.#isAlone = false
    this.pull()
  }

  /**
   * Takes the log's events before these offsets one after the other, as the lane has room.
   *
   * @param ends by partition.
   */
  async takeOneByOne(ends: readonly number[], onEvent: OnOffered): Promise<void> {
    const deps = { ...this.#options, intake: this.#intake, isClosed: () => this.#isClosed }
    for (const feed of this.#feeds) {
      for (const stream of [LIVE, BACKFILL]) {
        if (!(await takeOneByOne(feed, stream, ends[feed.partition]!, onEvent, deps))) return
      }
    }
  }

  /** This reader needs offsets from here on. */
  position(partition: number): number {
    return this.#of(partition).position()
  }

  cursor(partition: number, stream: number): Position {
    return this.#of(partition).cursor(stream)
  }

  /**
   * Skips the events before an offset that were not taken: they are given up. Call `skipped` when that is recorded.
   *
   * @returns the start of each skipped range, by stream.
   */
  skipTo(partition: number, offset: number): Position[] {
    return this.#of(partition).skipTo(offset)
  }

  /** Where the positions go with the outcome of the skipped events before an offset. */
  placesPast(partition: number, offset: number) {
    return this.#of(partition).placesPast(offset)
  }

  /** The outcome of the skipped events is recorded: the position may pass them. */
  skipped(partition: number): void {
    this.#of(partition).skipped()
    this.#options.outcomes.moved()
  }

  /** Whether an event was taken, and its outcome or its wait is recorded. */
  hasPassed(partition: number, stream: number, place: Position): boolean {
    return this.#of(partition).hasPassed(stream, place)
  }

  close(): void {
    this.#isClosed = true
  }

  #of(partition: number): PartitionFeed {
    return this.#byPartition[partition]!
  }

  #fail(error: Error): void {
    if (!this.#isClosed) this.#options.onError(error)
  }

  #wants(feed: PartitionFeed): boolean {
    if (this.#isClosed || this.#isAlone) return false
    const { lane } = this.#options
    if (!feed.isAttached) return lane.room >= Math.min(WORTHWHILE_ROOM, lane.room + lane.loaded) && lane.room > 0
    return feed.hasBackfills && lane.loaded < MAX_BACKFILL && lane.room > 0
  }

  async #pull(feed: PartitionFeed): Promise<void> {
    this.#isPulling[feed.partition] = true
    try {
      while (this.#wants(feed)) {
        feed.isSetBack = false
        const progressed = feed.attachAtEnd()
          ? await this.#pullStream(feed, BACKFILL, MAX_BACKFILL)
          : await this.#pullLive(feed)
        // A place that went back during the read is pulled from here on: `pull` passed this feed over.
        if (!progressed && !feed.isSetBack) break
      }
    } finally {
      this.#isPulling[feed.partition] = false
      feed.forgetPassed()
    }
  }

  async #pullLive(feed: PartitionFeed): Promise<boolean> {
    const progressed = await this.#pullStream(feed, LIVE, Number.POSITIVE_INFINITY)
    return feed.attachAtEnd() || progressed
  }

  /** @returns whether the cursor moved. */
  async #pullStream(feed: PartitionFeed, stream: number, most: number): Promise<boolean> {
    const { lane, log, outcomes } = this.#options
    const streamFeed = feed.streams[stream]!
    const before = streamFeed.cursor
    const { records, next, gap } = await log.read(feed.partition, STREAMS[stream]!, before.offset, this.#readBytes())
    if (gap !== undefined) await this.#options.onGap?.(feed.partition, gap)
    // The events that were read may have been given up meanwhile.
    if (this.#isClosed || streamFeed.cursor !== before) return !this.#isClosed
    let left = most
    for (const record of records) {
      const { offset } = record
      const first = offset === before.offset ? before.index : 0
      const { loaded } = lane
      let index: number | undefined
      try {
        index = this.#intake.take(feed, stream, record, first, left)
      } catch (error) {
        streamFeed.cursor = { offset, index: this.#intake.reached }
        throw error
      }
      if (index !== undefined) {
        streamFeed.cursor = { offset, index }
        lane.pump()
        return index > first || offset > before.offset
      }
      left -= lane.loaded - loaded
      streamFeed.cursor = { offset: offset + 1, index: 0 }
    }
    if (records.length === 0) feed.foundNothing(stream, next)
    outcomes.moved()
    lane.pump()
    return streamFeed.cursor.offset > before.offset
  }

  /** About as much as there is room for: events beyond would be read again. */
  #readBytes(): number {
    const wanted = this.#options.lane.room * this.#intake.eventBytes
    return Math.min(MAX_READ_BYTES, Math.max(MIN_READ_BYTES, wanted))
  }
}

export interface FeedOptions extends PartitionFeedOptions, EventIntakeOptions {
  readonly log: LogReader
  /** Partitions that it reads. */
  readonly partitions: readonly number[]
  /** Places at or after the start that already have an outcome. */
  readonly done: readonly EventPlaceKey[]
  /** Waits at or after the start. */
  readonly waiting: Parameters<Lane['resume']>[0]
  /** The log no longer has a range that this reader had not read; resolves when that is recorded. */
  readonly onGap?: ((partition: number, gap: OffsetRange) => Promise<void>) | undefined
  readonly onError: (error: Error) => void
}
