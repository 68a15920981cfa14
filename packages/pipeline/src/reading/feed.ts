import {
  type EventPlace,
  type EventPlaceKey,
  type FilterReason,
  type Lane,
  LaneEvent,
  type LaneOutcomes,
  type Position,
} from '@millrace/delivery'
import { type LogReader, type OffsetRange, STREAMS, type StoredRecord } from '@millrace/log'
import { hash53, type StoredEvent } from '@millrace/protocol'
import type { Activity } from '../following/activity.ts'
import type { ParsedRecords } from './parsed-records.ts'
import { isBefore } from './position-order.ts'
import { ReadAgain } from './read-again.ts'

const LIVE = 0
const BACKFILL = 1
const MAX_READ_BYTES = 256 * 1024
const LEAST_READ_BYTES = 16 * 1024
/** Maximum of backfill events in a lane: they fill the gaps of live traffic and must not displace it. */
const MAX_BACKFILL = 100
/** A lane that fell behind reads again when it has room for this many events: smaller reads are inefficient. */
const WORTHWHILE_ROOM = 100

type Wait = Parameters<Lane['resume']>[0][number]

export interface FeedOptions {
  readonly lane: Lane
  readonly outcomes: LaneOutcomes
  readonly log: LogReader
  /** Those that it reads. */
  readonly partitions: readonly number[]
  readonly parsed: ParsedRecords
  readonly activity: Activity
  /** Where a restart continues, by partition and stream. */
  readonly start: (partition: number, stream: number) => Position
  /** Places at or after the start that already have an outcome. */
  readonly done: readonly EventPlaceKey[]
  /** Waits at or after the start. */
  readonly waiting: readonly Wait[]
  /** The offset of the shared reader of the live stream. */
  readonly tailAt: (partition: number) => number
  /** The end of the backfills in a partition. */
  readonly backfillEnd: (partition: number) => number
  readonly filter: (event: StoredEvent, sourceId: string) => FilterReason | undefined
  readonly now: () => number
  readonly revision: () => number
  readonly onFiltered: (event: StoredEvent, sourceId: string, reason: FilterReason) => void
  /** Duplicate of an earlier event: not delivered. */
  readonly onDuplicate: (event: StoredEvent, sourceId: string) => void
  /** The log no longer has a range that this reader had not read; resolves when that is recorded. */
  readonly onGap?: ((partition: number, gap: OffsetRange) => Promise<void>) | undefined
  readonly onError: (error: Error) => void
}

/**
 * Passes the events of a destination's sources to its lane. While the lane keeps up, it takes them from the shared
 * reader. When the lane is full, it leaves the shared reader, reads its own range as room permits, and rejoins at the
 * end.
 */
export class Feed {
  readonly partitions: readonly number[]
  readonly #options: FeedOptions
  #activity: Activity
  /** By partition; holes for those that it does not read. */
  readonly #byPartition: PartitionFeed[] = []
  readonly #feeds: readonly PartitionFeed[]
  #isClosed = false
  /** Offset of the last record taken. */
  #eventBytes = 1024
  /** Index of the last event read. */
  #reached = 0
  #isAlone = false

  constructor(options: FeedOptions) {
    this.#options = options
    this.partitions = options.partitions
    this.#activity = options.activity
    this.#feeds = options.partitions.map((partition) => ({
      partition,
      live: this.#streamFeed(partition, LIVE),
      backfill: this.#streamFeed(partition, BACKFILL),
      recorded: new Map(),
      isPulling: false,
      isSetBack: false,
    }))
    for (const feed of this.#feeds) this.#byPartition[feed.partition] = feed
    for (const [partition, offset, index] of options.done) this.#remember(partition, { offset, index }, undefined)
    for (const wait of options.waiting) this.#remember(wait.partition, wait, wait)
  }

  get activity(): Activity {
    return this.#activity
  }

  /**
   * Follows other connections. A connection that began before the place of this reader is read from its beginning.
   *
   * @returns whether a place went back.
   */
  follow(activity: Activity): boolean {
    const before = this.#activity
    this.#activity = activity
    let wentBack = false
    for (const ofPartition of this.#feeds) {
      const { partition, live, backfill } = ofPartition
      for (const [stream, feed] of [live, backfill].entries()) {
        const cursor = this.cursor(partition, stream)
        const begun = activity.begunBefore(before, partition, cursor.offset)
        if (begun.size === 0) continue
        feed.again = ReadAgain.of(begun, cursor, feed.again)
        feed.cursor = { offset: Math.min(cursor.offset, ...begun.values()), index: 0 }
        feed.isAttached = false
        ofPartition.isSetBack = true
        wentBack = true
      }
    }
    if (wentBack) this.#options.outcomes.moved()
    return wentBack
  }

  /** Takes a record from the shared reader, unless this lane is behind. */
  offer(partition: number, record: StoredRecord): void {
    const { live } = this.#byPartition[partition]!
    // The lane may have read ahead of the shared reader before it rejoined.
    if (!live.isAttached || this.#isClosed || record.offset < live.cursor.offset) return
    let taken: number | undefined
    try {
      taken = this.#take(partition, LIVE, record, 0, Number.POSITIVE_INFINITY)
    } catch (error) {
      // Other lanes still get the record; this one reads it again.
      taken = this.#reached
      this.#fail(error as Error)
    }
    if (taken === undefined) return
    live.isAttached = false
    live.cursor = { offset: record.offset, index: taken }
  }

  /** Takes the events at its own place in the log that fit; call it when there may be room or new events. */
  pull(): void {
    for (const feed of this.#feeds)
      if (!feed.isPulling && this.#wants(feed)) this.#pull(feed).catch((error) => this.#fail(error))
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
   * @param onEvent called before any code reads the event; its result is called when the event was taken or filtered.
   */
  async takeOneByOne(
    ends: readonly number[],
    onEvent: (event: OfferedEvent) => Promise<(() => Promise<void>) | undefined>,
  ): Promise<void> {
    for (const { partition, live, backfill } of this.#feeds) {
      for (const [stream, feed] of [live, backfill].entries()) {
        await this.#takeStream(partition, stream, feed, ends[partition]!, onEvent)
      }
    }
  }

  async #takeStream(
    partition: number,
    stream: number,
    feed: StreamFeed,
    end: number,
    onEvent: Parameters<Feed['takeOneByOne']>[1],
  ): Promise<void> {
    const { lane, log, parsed, outcomes } = this.#options
    while (feed.cursor.offset < end) {
      const { records, next } = await log.read(partition, STREAMS[stream]!, feed.cursor.offset, LEAST_READ_BYTES)
      if (records.length === 0) feed.cursor = movedTo(next, feed.cursor)
      for (const record of records) {
        if (record.offset >= end) return
        const { sourceId, acceptedAt } = record.header
        const events = this.#activity.isConnected(sourceId, partition, record.offset)
          ? parsed.eventsOf(partition, record).length
          : 0
        for (let index = record.offset === feed.cursor.offset ? feed.cursor.index : 0; index < events; index++) {
          if (this.#isClosed || lane.room === 0) return
          const sizeBytes = Math.ceil(record.body.length / events)
          const place = { partition, stream, offset: record.offset, index }
          const onTaken = await onEvent({ ...place, sourceId, acceptedAt, sizeBytes })
          if (onTaken === undefined || this.#isClosed) return
          this.#take(partition, stream, record, index, Number.POSITIVE_INFINITY, index + 1)
          feed.cursor = { offset: record.offset, index: index + 1 }
          await onTaken()
        }
        feed.cursor = { offset: record.offset + 1, index: 0 }
      }
      outcomes.moved()
    }
  }

  /** This reader needs offsets from here on. */
  position(partition: number): number {
    const feed = this.#byPartition[partition]!
    return Math.min(feed.live.progress.position().offset, feed.backfill.progress.position().offset)
  }

  cursor(partition: number, stream: number): Position {
    const feed = this.#byPartition[partition]!
    return stream === LIVE ? this.#liveCursor(partition, feed.live) : this.#backfillCursor(partition, feed.backfill)
  }

  /**
   * Skips the events before an offset that were not taken: they are given up. @returns the start of each skipped range,
   * by stream.
   */
  skipTo(partition: number, offset: number): Position[] {
    const { live, backfill } = this.#byPartition[partition]!
    const cursors = [this.cursor(partition, LIVE), this.cursor(partition, BACKFILL)]
    for (const [stream, feed] of [live, backfill].entries()) {
      if (cursors[stream]!.offset < offset) feed.cursor = { offset, index: 0 }
    }
    this.#options.outcomes.moved()
    return cursors
  }

  /** Whether an event was taken, and its outcome or its wait is recorded. */
  hasPassed(partition: number, stream: number, place: Position): boolean {
    const feed = this.#byPartition[partition]!
    const { progress } = stream === LIVE ? feed.live : feed.backfill
    return isBefore(place, this.cursor(partition, stream)) && !progress.isOpen(place)
  }

  close(): void {
    this.#isClosed = true
  }

  #fail(error: Error): void {
    if (!this.#isClosed) this.#options.onError(error)
  }

  #streamFeed(partition: number, stream: number): StreamFeed {
    const start = this.#options.start(partition, stream)
    const feed: StreamFeed = { cursor: start, isAttached: false, progress: undefined!, again: undefined }
    const cursor =
      stream === LIVE ? () => this.#liveCursor(partition, feed) : () => this.#backfillCursor(partition, feed)
    feed.progress = this.#options.lane.follow(partition, stream, cursor)
    return feed
  }

  #liveCursor(partition: number, feed: StreamFeed): Position {
    if (!feed.isAttached) return feed.cursor
    return { offset: Math.max(this.#options.tailAt(partition), feed.cursor.offset), index: 0 }
  }

  /** Without new backfills there is nothing to take: the place moves with the shared reader. */
  #backfillCursor(partition: number, { cursor }: StreamFeed): Position {
    const { backfillEnd, tailAt } = this.#options
    if (cursor.offset < backfillEnd(partition)) return cursor
    return { offset: Math.max(cursor.offset, tailAt(partition)), index: 0 }
  }

  #wants({ partition, live, backfill }: PartitionFeed): boolean {
    if (this.#isClosed || this.#isAlone) return false
    const { lane, backfillEnd } = this.#options
    if (!live.isAttached) return lane.room >= Math.min(WORTHWHILE_ROOM, lane.room + lane.loaded) && lane.room > 0
    return backfill.cursor.offset < backfillEnd(partition) && lane.loaded < MAX_BACKFILL && lane.room > 0
  }

  async #pull(feed: PartitionFeed): Promise<void> {
    feed.isPulling = true
    try {
      while (this.#wants(feed)) {
        feed.isSetBack = false
        this.#attachAtEnd(feed)
        const progressed = feed.live.isAttached
          ? await this.#pullStream(feed.partition, BACKFILL, feed.backfill, MAX_BACKFILL)
          : await this.#pullLive(feed)
        // A place that went back during the read is pulled from here on: `pull` passed this feed over.
        if (!progressed && !feed.isSetBack) break
      }
    } finally {
      feed.isPulling = false
      // The feed has passed all places that were recorded before the start.
      const { live, backfill, recorded } = feed
      if (live.isAttached && backfill.cursor.offset >= this.#options.backfillEnd(feed.partition)) recorded.clear()
    }
  }

  async #pullLive({ partition, live }: PartitionFeed): Promise<boolean> {
    const progressed = await this.#pullStream(partition, LIVE, live, Number.POSITIVE_INFINITY)
    return this.#attachAtEnd({ partition, live }) || progressed
  }

  /** Joins the shared reader if it has reached it. @returns whether it has. */
  #attachAtEnd({ partition, live }: Pick<PartitionFeed, 'partition' | 'live'>): boolean {
    if (live.isAttached) return true
    if (live.cursor.index > 0 || live.cursor.offset < this.#options.tailAt(partition)) return false
    live.isAttached = true
    live.again = undefined
    return true
  }

  /** @returns whether the cursor moved. */
  async #pullStream(partition: number, stream: number, feed: StreamFeed, most: number): Promise<boolean> {
    const before = feed.cursor
    const { records, next, gap } = await this.#options.log.read(
      partition,
      STREAMS[stream]!,
      before.offset,
      this.#readBytes(),
    )
    if (gap !== undefined) await this.#options.onGap?.(partition, gap)
    // The events that were read may have been given up meanwhile.
    if (this.#isClosed || feed.cursor !== before) return !this.#isClosed
    let left = most
    for (const record of records) {
      const first = record.offset === before.offset ? before.index : 0
      const loaded = this.#options.lane.loaded
      let taken: number | undefined
      try {
        taken = this.#take(partition, stream, record, first, left)
      } catch (error) {
        feed.cursor = { offset: record.offset, index: this.#reached }
        throw error
      }
      if (taken !== undefined) {
        feed.cursor = { offset: record.offset, index: taken }
        this.#options.lane.pump()
        return taken > first || record.offset > before.offset
      }
      left -= this.#options.lane.loaded - loaded
      feed.cursor = { offset: record.offset + 1, index: 0 }
    }
    if (records.length === 0) feed.cursor = movedTo(next, before)
    this.#options.outcomes.moved()
    this.#options.lane.pump()
    return feed.cursor.offset > before.offset
  }

  /** About as much as there is room for: events beyond would be read again. */
  #readBytes(): number {
    const wanted = this.#options.lane.room * this.#eventBytes
    return Math.min(MAX_READ_BYTES, Math.max(LEAST_READ_BYTES, wanted))
  }

  /**
   * @param until index of the first event that is left for later.
   * @returns undefined if all events before it were taken, else the index of the first event without room.
   */
  #take(
    partition: number,
    stream: number,
    record: StoredRecord,
    first: number,
    most: number,
    until = Number.POSITIVE_INFINITY,
  ): number | undefined {
    const { lane, outcomes, parsed, filter, now, revision } = this.#options
    this.#reached = first
    const { sourceId, acceptedAt } = record.header
    const { offset, duplicates } = record
    if (!this.#activity.isConnected(sourceId, partition, offset)) return undefined
    const events = parsed.eventsOf(partition, record)
    const isDisabled = this.#activity.isDisabled(partition, offset)
    const { live, backfill, recorded } = this.#byPartition[partition]!
    const { progress, again } = stream === LIVE ? live : backfill
    const sizeBytes = Math.ceil(record.body.length / events.length)
    if (events.length > 0) this.#eventBytes = sizeBytes
    const keys = keySeeds(sourceId, stream)
    let room = Math.min(lane.room, most)
    const end = Math.min(events.length, until)
    const firstWanted = again === undefined ? first : Math.max(first, again.firstOf(sourceId, offset))
    for (let index = firstWanted; index < end; index++) {
      this.#reached = index
      if (duplicates?.has(index)) {
        this.#options.onDuplicate(events[index]!, sourceId)
        continue
      }
      if (recorded.size > 0) {
        const key = placeKey(offset, index)
        if (recorded.has(key)) {
          const wait = recorded.get(key)
          if (wait !== undefined) lane.resume([wait])
          continue
        }
      }
      const event = events[index]!
      const place = { partition, stream, offset, index }
      const facts = { sourceId, acceptedAt, sizeBytes, userKey: 0, anonymousKey: 0 }
      let laneEvent: LaneEvent | undefined
      try {
        const reason = isDisabled ? 'destination is disabled' : filter(event, sourceId)
        if (reason !== undefined) {
          outcomes.filtered(place, reason, now(), revision())
          this.#options.onFiltered(event, sourceId, reason)
          continue
        }
        if (room <= 0) return index
        room--
        if (event.userId) facts.userKey = hash53(event.userId, keys.user)
        if (event.anonymousId) facts.anonymousKey = hash53(event.anonymousId, keys.anonymous)
        laneEvent = new LaneEvent(place, facts, event)
        progress.add(laneEvent)
        lane.add(laneEvent)
      } catch (error) {
        lane.refuse(laneEvent ?? new LaneEvent(place, facts, event), error as Error)
      }
    }
    return undefined
  }

  #remember(partition: number, place: Position, wait: Wait | undefined): void {
    const { live, backfill, recorded } = this.#byPartition[partition]!
    if (isBefore(place, live.cursor) && isBefore(place, backfill.cursor)) return
    recorded.set(placeKey(place.offset, place.index), wait)
  }
}

/** A read that finds nothing may not pass a record of which a part was taken: that part would be taken again. */
function movedTo(next: number, cursor: Position): Position {
  return next > cursor.offset ? { offset: next, index: 0 } : cursor
}

function placeKey(offset: number, index: number): string {
  return `${offset} ${index}`
}

/** An event that is about to be taken. */
export interface OfferedEvent extends EventPlace {
  readonly sourceId: string
  readonly acceptedAt: number
  readonly sizeBytes: number
}

interface PartitionFeed {
  readonly partition: number
  readonly live: StreamFeed
  readonly backfill: StreamFeed
  /**
   * Outcomes and waits that the last run recorded at or after its position; empty after the feed has passed all of
   * them. Both streams share one counter of offsets, so one map serves both.
   */
  readonly recorded: Map<string, Wait | undefined>
  isPulling: boolean
  /** A place went back since the last read began. */
  isSetBack: boolean
}

interface StreamFeed {
  /** While the live stream is attached, the place of the shared reader counts instead. */
  cursor: Position
  isAttached: boolean
  progress: ReturnType<Lane['follow']>
  /** A range that is read again for connections that began in it. */
  again: ReadAgain | undefined
}

/** Order holds per user and source within a stream: seeds for the hashes of ids. */
export function keySeeds(sourceId: string, stream: number): { user: number; anonymous: number } {
  const key = `${stream} ${sourceId}`
  let seeds = KEY_SEEDS.get(key)
  if (seeds === undefined) {
    if (KEY_SEEDS.size >= 10_000) KEY_SEEDS.clear()
    seeds = { user: hash53(`user ${key}`) | 0, anonymous: hash53(`anonymous ${key}`) | 0 }
    KEY_SEEDS.set(key, seeds)
  }
  return seeds
}

const KEY_SEEDS = new Map<string, { user: number; anonymous: number }>()
