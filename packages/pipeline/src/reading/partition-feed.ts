import { isBefore, type Lane, type LaneEvent, type Position } from '@millrace/delivery'
import type { Activity } from '../following/activity.ts'
import { placeKey, ReadAgain } from './read-again.ts'

export const LIVE = 0
export const BACKFILL = 1

/**
 * The places of a destination in one partition: how far it has read the live and the backfill stream. While the lane
 * keeps up with the shared reader of the live stream, it is attached: the place of the shared reader counts.
 */
export class PartitionFeed {
  readonly partition: number
  /** By stream. */
  readonly streams: readonly [live: StreamFeed, backfill: StreamFeed]
  /** A place went back since the last read began. */
  isSetBack = false
  readonly #options: PartitionFeedOptions
  #isAttached = false
  /**
   * Outcomes and waits that the last run recorded at or after its position; empty after the feed has passed all of
   * them. Both streams share one counter of offsets, so one map serves both.
   */
  readonly #recorded = new Map<string, Wait | 'done'>()
  /** By source whose connection was removed, until `goBack`: the places of its events that the lane dropped. */
  readonly #dropped = new Map<string, ReadonlySet<string>>()

  constructor(partition: number, options: PartitionFeedOptions) {
    this.partition = partition
    this.#options = options
    this.streams = [this.#streamFeed(LIVE), this.#streamFeed(BACKFILL)]
  }

  /** Whether the lane gets live events from the shared reader. */
  get isAttached(): boolean {
    return this.#isAttached
  }

  /** Whether there are backfills that it has not read. */
  get hasBackfills(): boolean {
    return this.streams[BACKFILL].cursor.offset < this.#options.backfillEnd(this.partition)
  }

  /** Joins the shared reader if it has reached it. @returns whether it has. */
  attachAtEnd(): boolean {
    if (this.#isAttached) return true
    const live = this.streams[LIVE]
    if (live.cursor.index > 0 || live.cursor.offset < this.#options.tailAt(this.partition)) return false
    this.#isAttached = true
    live.again = undefined
    return true
  }

  /** Leaves the shared reader: its own reads continue at this place. */
  detachAt(place: Position): void {
    this.#isAttached = false
    this.streams[LIVE].cursor = place
  }

  /** Everything before it has been read. */
  cursor(stream: number): Position {
    const { cursor } = this.streams[stream]!
    // Without new backfills there is nothing to take: the place moves with the shared reader.
    const isAtTail = stream === LIVE ? this.#isAttached : !this.hasBackfills
    return isAtTail ? { offset: Math.max(this.#options.tailAt(this.partition), cursor.offset), index: 0 } : cursor
  }

  /** This reader needs offsets from here on. */
  position(): number {
    const [live, backfill] = this.streams
    return Math.min(live.progress.position().offset, backfill.progress.position().offset)
  }

  /** A read found nothing before `next`. */
  foundNothing(stream: number, next: number): void {
    const feed = this.streams[stream]!
    // It may not pass a record of which a part was taken: that part would be taken again.
    if (next > feed.cursor.offset) feed.cursor = { offset: next, index: 0 }
  }

  /**
   * Skips the events before an offset that were not taken. The positions stay until `skipped`.
   *
   * @returns the start of each skipped range, by stream.
   */
  skipTo(offset: number): Position[] {
    const cursors = [this.cursor(LIVE), this.cursor(BACKFILL)]
    for (const [stream, feed] of this.streams.entries()) {
      feed.progress.hold()
      if (cursors[stream]!.offset < offset) feed.cursor = { offset, index: 0 }
    }
    return cursors
  }

  /** By stream, where the positions go when the outcome of the skipped events before an offset is recorded; only those that move. */
  placesPast(offset: number): { partition: number; stream: number; position: Position }[] {
    const { partition } = this
    return this.streams.flatMap(({ progress }, stream) => {
      const reached = progress.reached()
      const position = reached.offset < offset ? reached : { offset, index: 0 }
      return isBefore(progress.position(), position) ? [{ partition, stream, position }] : []
    })
  }

  /** The outcome of the skipped events is recorded. */
  skipped(): void {
    for (const { progress } of this.streams) progress.release()
  }

  /** Whether an event was taken, and its outcome or its wait is recorded. */
  hasPassed(stream: number, place: Position): boolean {
    return isBefore(place, this.cursor(stream)) && !this.streams[stream]!.progress.isOpen(place)
  }

  /** The connection of a source was removed, and the lane dropped these events of it. */
  dropped(sourceId: string, events: readonly LaneEvent[]): void {
    this.#dropped.set(sourceId, new Set(events.map(placeKey)))
  }

  /**
   * Goes back to the beginning of connections that began before its places.
   *
   * @param earlier activity that it followed until now.
   * @returns whether a place went back.
   */
  goBack(activity: Activity, earlier: Activity): boolean {
    let wentBack = false
    for (const [stream, feed] of this.streams.entries()) {
      const cursor = this.cursor(stream)
      for (const resource of earlier.endedBefore(activity, this.partition, cursor.offset)) {
        feed.takenTo.set(resource, cursor.offset)
      }
      const begun = activity.begunBefore(earlier, this.partition, cursor.offset, feed.takenTo)
      if (begun.size === 0) continue
      const replaced = [...this.#dropped].filter(([id]) => earlier.isActiveTo(id, this.partition, cursor.offset))
      feed.again = ReadAgain.of(begun, new Map(replaced), cursor, feed.again)
      feed.cursor = { offset: Math.min(cursor.offset, ...begun.values()), index: 0 }
      if (stream === LIVE) this.#isAttached = false
      wentBack = true
    }
    this.#dropped.clear()
    this.isSetBack ||= wentBack
    return wentBack
  }

  /** Remembers that the last run recorded a wait or an outcome, until both streams have passed the event. */
  remember(place: Position, recorded: Wait | 'done'): void {
    if (this.streams.every(({ cursor }) => isBefore(place, cursor))) return
    this.#recorded.set(placeKey(place), recorded)
  }

  /** The wait that the last run recorded for an event; 'done' if it recorded an outcome; undefined if neither. */
  recordedAt(offset: number, index: number): Wait | 'done' | undefined {
    return this.#recorded.size === 0 ? undefined : this.#recorded.get(placeKey({ offset, index }))
  }

  /** Once both streams have been read to their ends: forgets the outcomes and waits of the last run, and ranges read again. */
  forgetPassed(): void {
    if (!this.#isAttached || this.hasBackfills) return
    this.#recorded.clear()
    this.streams[BACKFILL].again = undefined
  }

  #streamFeed(stream: number): StreamFeed {
    const { start, lane } = this.#options
    return {
      cursor: start(this.partition, stream),
      progress: lane.follow(this.partition, stream, () => this.cursor(stream)),
      again: undefined,
      takenTo: new Map(),
    }
  }
}

export interface PartitionFeedOptions {
  readonly lane: Lane
  /** Where a restart continues, by partition and stream. */
  readonly start: (partition: number, stream: number) => Position
  /** The offset of the shared reader of the live stream. */
  readonly tailAt: (partition: number) => number
  /** The end of the backfills in a partition. */
  readonly backfillEnd: (partition: number) => number
}

interface StreamFeed {
  /** Where its own reads continue; at the end of the stream the place of the shared reader counts instead. */
  cursor: Position
  readonly progress: ReturnType<Lane['follow']>
  /** A range that is read again for connections that began in it. */
  again: ReadAgain | undefined
  /** By resource of a connection: how far its events were taken before the reader knew that it had ended. */
  readonly takenTo: Map<string, number>
}

type Wait = Parameters<Lane['resume']>[0][number]
