import type { LaneEvent } from '@millrace/delivery'
import { type EventLog, STREAMS } from '@millrace/log'
import { formatTime } from '@millrace/protocol'
import type { DestinationDelivery } from './destination-delivery.ts'

const HOUR_MS = 3_600_000
/** More events than this behind one id are shown as `hotId`. */
const HOT_ID_EVENTS = 1_000

interface Sources {
  readonly log: EventLog
  /** Its open dead letters. */
  readonly open: { readonly letters: number; readonly letterBytes: number }
  readonly deliveredSince: (destinationId: string, hour: number) => Promise<number>
  readonly expired: (destinationId: string) => number
  readonly payloadOf: (event: LaneEvent) => Promise<{ userId?: string; anonymousId?: string } | undefined>
  readonly now: number
}

export type DeliveryState = Awaited<ReturnType<typeof deliveryState>>

/** The answer of GET /v2/destinations/{id}/delivery. @see contracts/delivery.md §8 [D630] */
export async function deliveryState(delivery: DestinationDelivery, sources: Sources) {
  const { lane, destination } = delivery
  const { id } = destination
  const counts = countEvents(lane.unfinished())
  const takenUp = delivery.takenUp()
  const untaken = await delivery.untaken()
  const { state } = lane.outage
  const failure = lane.lastFailure
  const oldest = await oldestPendingAt(delivery, sources.log, counts.oldestAcceptedAt)
  return {
    destinationId: id,
    state,
    statusText: state === 'ok' || failure === undefined ? null : failure.text || `status ${failure.status}`,
    pending: untaken.events + counts.ready,
    retrying: counts.retrying,
    throttled: lane.isThrottled ? counts.unsent : 0,
    blockedEvents: counts.blocked,
    blockedUsers: counts.blockedUsers,
    hotId: await hotId(counts, sources),
    concurrency: lane.concurrency,
    oldestPendingAt: oldest === undefined ? null : formatTime(oldest),
    delivered24h: await sources.deliveredSince(id, Math.floor(sources.now / HOUR_MS) - 23),
    deadLettersOpen: sources.open.letters,
    expired: sources.expired(id),
    backlogBytes: takenUp.bytes + untaken.bytes + sources.open.letterBytes,
    latencyMs: lane.latency.percentiles(),
  }
}

function countEvents(events: Iterable<LaneEvent>) {
  const counts = {
    ready: 0,
    unsent: 0,
    retrying: 0,
    blocked: 0,
    blockedUsers: 0,
    oldestAcceptedAt: Number.POSITIVE_INFINITY,
  }
  const byKey = new Map<number, { waiting: number; event: LaneEvent }>()
  const blockedUsers = new Set<number>()
  for (const event of events) {
    counts.oldestAcceptedAt = Math.min(counts.oldestAcceptedAt, event.acceptedAt)
    if (event.state === 'retrying') counts.retrying++
    else if (event.state === 'blocked') counts.blocked++
    else counts.ready++
    if (event.state === 'ready') counts.unsent++
    if (event.state !== 'blocked') continue
    blockedUsers.add(event.userKey || event.anonymousKey)
    for (const key of [event.userKey, event.anonymousKey]) {
      if (key === 0) continue
      const known = byKey.get(key)
      if (known === undefined) byKey.set(key, { waiting: 1, event })
      else known.waiting++
    }
  }
  let hottest: { key: number; waiting: number; event: LaneEvent } | undefined
  for (const [key, { waiting, event }] of byKey) {
    if (waiting > HOT_ID_EVENTS && waiting > (hottest?.waiting ?? 0)) hottest = { key, waiting, event }
  }
  return { ...counts, blockedUsers: blockedUsers.size, hottest }
}

async function hotId({ hottest }: ReturnType<typeof countEvents>, { payloadOf }: Sources) {
  if (hottest === undefined) return null
  const payload = await payloadOf(hottest.event)
  const id = hottest.key === hottest.event.userKey ? payload?.userId : payload?.anonymousId
  return { id: id ?? '', waiting: hottest.waiting }
}

/** Of what is taken up, or of what lies untouched in the log. */
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
