import type { DeliveryStore, LaneEvent, PositionWrite, RangeWrite } from '@millrace/delivery'
import type { Offset, OffsetRange, Tally } from '@millrace/log'
import type { Clock, Logger } from '@millrace/std'
import type { DestinationDelivery } from '../delivery/destination-delivery.ts'
import { BACKFILL, LIVE } from '../reading/partition-feed.ts'

/** The reason shown in traces. */
export const EXPIRY_REASON = 'storage budget'

const WRITE_AGAIN_MS = 1_000

export interface ExpiryOptions {
  readonly store: Pick<DeliveryStore, 'outcomes' | 'flush'>
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Gives up the oldest waiting events of a destination in a shard. Many events are recorded as one range for each source.
 *
 * @see contracts/delivery.md §4 [D636], §8 [D643]
 */
export class BacklogExpiry {
  readonly #options: ExpiryOptions
  readonly #stopped = Promise.withResolvers<void>()
  #isStopped = false

  constructor(options: ExpiryOptions) {
    this.#options = options
  }

  /** Ends the retries of an expiry that cannot be written: `expire` then rejects. */
  stop(): void {
    this.#isStopped = true
    this.#stopped.resolve()
  }

  /**
   * Resolves when the expiry is on disk. Call it for one destination at a time.
   *
   * @param endOf only events before this offset of a partition expire.
   * @returns the number of expired events, 0 if nothing can expire now, and about their stored bytes.
   */
  async expire(
    delivery: DestinationDelivery,
    bytes: number,
    endOf: (partition: number) => Offset,
  ): Promise<{ count: number; bytes: number }> {
    const { store } = this.#options
    for (const partition of delivery.feed.partitions) {
      const place = await this.#placeBehind(delivery, partition, bytes, endOf(partition))
      if (place === undefined) continue
      const { before } = place
      const { cursors, events } = delivery.giveUpBefore(partition, before)
      const untaken = (from: number, to: number) => {
        const starts = cursors.map((cursor) => (cursor.offset < from ? { offset: from, index: 0 } : cursor))
        return delivery.untaken.between(partition, starts, to)
      }
      const first = Math.min(before, ...cursors.map(({ offset }) => offset), lowest(events))
      const destinationId = delivery.destination.id
      // The positions that are recorded with the expiry pass what the lane has collected so far, and calls in flight.
      await store.flush()
      let positions: readonly PositionWrite[] = []
      const count = await this.#untilDone(destinationId, async () => {
        const ranges = await this.#ranges(delivery, partition, { from: first, to: before }, events, untaken)
        const inFlight = delivery.unfinishedBefore(partition, before)
        positions = delivery.placesPast(partition, before)
        await store.outcomes.expireWaiting({ destinationId, partition, before, inFlight, ranges, positions })
        return ranges.reduce((sum, range) => sum + range.count, 0)
      })
      delivery.gaveUp(partition, positions)
      if (count > 0) return { count, bytes: place.bytes }
    }
    return { count: 0, bytes: 0 }
  }

  /** Retries until it succeeds or the pipeline stops: nothing else records an outcome of the events that were given up. */
  async #untilDone(destinationId: string, work: () => Promise<number>): Promise<number> {
    const { clock, logger } = this.#options
    for (let failures = 1; ; failures++) {
      try {
        return await work()
      } catch (error) {
        if (this.#isStopped) throw error
        const { message: cause } = error as Error
        if (failures === 1) logger.error({ destinationId, cause }, 'expired events cannot be recorded; retrying')
        const waited = Promise.withResolvers<void>()
        const timer = clock.setTimer(waited.resolve, WRITE_AGAIN_MS)
        await Promise.race([waited.promise, this.#stopped.promise])
        timer.cancel()
      }
    }
  }

  /**
   * The place before which the given number of bytes waits, found by binary search, with the bytes that wait before it; undefined
   * if nothing waits before the end.
   */
  async #placeBehind(
    delivery: DestinationDelivery,
    partition: number,
    bytes: number,
    end: Offset,
  ): Promise<{ before: Offset; bytes: number } | undefined> {
    const cursors = [LIVE, BACKFILL].map((stream) => delivery.feed.cursor(partition, stream))
    const takenUp = delivery.lane.waiting(partition)
    const bytesBefore = async (offset: number) => {
      let sum = takenUp.reduce((before, event) => before + (event.offset < offset ? event.sizeBytes : 0), 0)
      for (const tally of (await delivery.untaken.between(partition, cursors, offset)).values()) sum += tally.bytes
      return sum
    }
    let high = { before: end, bytes: await bytesBefore(end) }
    if (high.bytes === 0) return undefined
    let low = Math.min(...cursors.map(({ offset }) => offset), lowest(takenUp))
    while (high.before - low > 1) {
      const middle = Math.floor((low + high.before) / 2)
      const found = await bytesBefore(middle)
      if (found >= bytes) high = { before: middle, bytes: found }
      else low = middle
    }
    return high
  }

  /** By source, split where its connection began or ended. */
  async #ranges(
    delivery: DestinationDelivery,
    partition: number,
    { from, to }: OffsetRange,
    events: readonly LaneEvent[],
    untaken: (from: number, to: number) => Promise<Tally>,
  ): Promise<RangeWrite[]> {
    const { activity } = delivery.feed
    const destinationId = delivery.destination.id
    const at = this.#options.clock.now()
    const ranges: RangeWrite[] = []
    for (const piece of activity.pieces(partition, from, to)) {
      const counts = new Map([...(await untaken(piece.from, piece.to))].map(([id, tally]) => [id, tally.events]))
      for (const { sourceId, offset } of events) {
        if (piece.from <= offset && offset < piece.to) counts.set(sourceId, (counts.get(sourceId) ?? 0) + 1)
      }
      for (const [sourceId, count] of counts) {
        if (count === 0) continue
        const range = { partition, fromOffset: piece.from, toOffset: piece.to }
        ranges.push({ ...range, destinationId, sourceId, outcome: 'expired', reason: EXPIRY_REASON, count, at })
      }
    }
    return ranges
  }
}

function lowest(events: readonly LaneEvent[]): number {
  return events.reduce((least, { offset }) => Math.min(least, offset), Number.POSITIVE_INFINITY)
}
