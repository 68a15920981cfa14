import type { BacklogRow, DeliveryStore, Lane } from '@millrace/delivery'
import { type EventLog, STREAMS } from '@millrace/log'
import { formatTime } from '@millrace/protocol'
import type { Clock } from '@millrace/std'
import type { DeliveryMetrics } from './delivery-metrics.ts'
import type { DestinationDelivery } from './destination-delivery.ts'
import { toldWaiting } from './why-waiting.ts'

const HOUR_MS = 3_600_000

export interface StateSources {
  readonly log: EventLog
  readonly store: DeliveryStore
  readonly clock: Clock
  readonly metrics: DeliveryMetrics
  readonly deliveries: ReadonlyMap<string, DestinationDelivery>
  /** Destinations of the configuration, ordered by creation. */
  readonly destinationIds: () => Iterable<string>
}

export type DeliveryState = Awaited<ReturnType<typeof deliveryState>>

/** Counts and states of destinations. */
export class DeliveryStates {
  readonly #sources: StateSources

  constructor(sources: StateSources) {
    this.#sources = sources
  }

  /** Ordered by creation. */
  ids(): string[] {
    const { deliveries, destinationIds } = this.#sources
    return [...destinationIds()].filter((id) => deliveries.has(id))
  }

  /** @returns undefined if the id is unknown. */
  async of(destinationId: string): Promise<DeliveryState | undefined> {
    const [state] = await this.list([destinationId])
    return state
  }

  /** Counts for the destinations that exist. */
  async list(destinationIds: readonly string[] = this.ids()): Promise<DeliveryState[]> {
    const { deliveries, store } = this.#sources
    const states: DeliveryState[] = []
    const backlog = await store.backlog.byDestination()
    for (const id of destinationIds) {
      const delivery = deliveries.get(id)
      if (delivery === undefined) continue
      const open = backlog.find(({ destinationId }) => destinationId === id) ?? NO_BACKLOG
      states.push(await deliveryState(delivery, open, this.#sources))
    }
    return states
  }
}

const NO_BACKLOG = { letters: 0, letterBytes: 0 }

/**
 * The answer of GET /v2/destinations/{id}/delivery.
 *
 * @param open number of its open dead letters.
 * @see contracts/delivery.md §8 [D630]
 */
async function deliveryState(
  delivery: DestinationDelivery,
  open: Pick<BacklogRow, 'letters' | 'letterBytes'>,
  { log, store, clock, metrics }: StateSources,
) {
  const { lane, destination } = delivery
  const { id } = destination
  const now = clock.now()
  const { counts } = lane
  const takenUp = delivery.takenUp()
  const untaken = await delivery.untaken.count()
  const { state } = lane.outage
  const failure = lane.lastFailure
  const isAnyWaiting = lane.unfinishedCount + untaken.events > 0
  const oldest = await oldestPendingAt(delivery, log, counts.oldestAcceptedAt)
  return {
    destinationId: id,
    state,
    statusText: state === 'ok' || failure === undefined ? null : failure.text || `status ${failure.status}`,
    pending: untaken.events + counts.ready,
    retrying: counts.retrying,
    throttled: lane.isThrottled ? counts.unsent : 0,
    blockedEvents: counts.blocked,
    blockedUsers: counts.blockedUsers,
    hotId: await hotId(counts, delivery),
    concurrency: lane.concurrency,
    waiting: isAnyWaiting && lane.wait !== undefined ? toldWaiting(lane.wait, now) : null,
    oldestPendingAt: oldest === undefined ? null : formatTime(oldest),
    delivered24h: await store.outcomes.deliveredSince({ destinationId: id, hour: Math.floor(now / HOUR_MS) - 23 }),
    deadLettersOpen: open.letters,
    expired: metrics.outcomes.get(id)?.get('expired') ?? 0,
    backlogBytes: takenUp.bytes + untaken.bytes + open.letterBytes,
    latencyMs: lane.latency.percentiles(),
  }
}

async function hotId({ hottest }: Lane['counts'], delivery: DestinationDelivery) {
  const { event, key, waiting } = hottest ?? {}
  if (event === undefined) return null
  const payload = await delivery.payloadOf(event)
  const id = key === event.userKey ? payload?.userId : payload?.anonymousId
  return { id: id ?? '', waiting: waiting! }
}

/** Time of the oldest pending event, in the lane or still unread in the log. */
async function oldestPendingAt(
  { feed }: DestinationDelivery,
  log: EventLog,
  takenUp: number,
): Promise<number | undefined> {
  let oldest = takenUp
  for (let partition = 0; partition < log.partitions; partition++) {
    for (const [stream, name] of STREAMS.entries()) {
      const { offset } = feed.cursor(partition, stream)
      if (offset >= log.end(partition)) continue
      const { records } = await log.read(partition, name, offset, 1)
      const first = records.find((record) =>
        feed.activity.isConnected(record.header.sourceId, partition, record.offset),
      )
      if (first !== undefined) oldest = Math.min(oldest, first.header.acceptedAt)
    }
  }
  return oldest === Number.POSITIVE_INFINITY ? undefined : oldest
}
