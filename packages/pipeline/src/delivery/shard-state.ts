import type { LaneStatus } from '@millrace/delivery'
import { type LogReader, STREAMS } from '@millrace/log'
import type { ShardState } from '../host/shard.ts'
import type { DestinationDelivery } from './destination-delivery.ts'

/** The state of a destination in one shard. */
export async function shardState(delivery: DestinationDelivery, log: LogReader): Promise<ShardState> {
  const { destination, lane } = delivery
  const { status } = lane
  const { counts } = status
  const takenUp = delivery.takenUp()
  const untaken = await delivery.untaken.count()
  const failure = status.lastFailure
  const isAnyWaiting = status.unfinishedCount + untaken.events > 0
  return {
    destinationId: destination.id,
    state: status.outageState,
    failure: failure && (failure.text || `status ${failure.status}`),
    pending: untaken.events + counts.ready,
    retrying: counts.retrying,
    throttled: status.isThrottled ? counts.unsent : 0,
    blockedEvents: counts.blocked,
    blockedUsers: counts.blockedUsers,
    hotId: await hotId(counts, delivery),
    concurrency: status.concurrency,
    wait: isAnyWaiting ? status.wait : undefined,
    oldestPendingAt: await oldestPendingAt(delivery, log, counts.oldestAcceptedAt),
    waitingBytes: takenUp.bytes + untaken.bytes,
    recentDurations: lane.latency.recent(),
  }
}

async function hotId({ hottest }: LaneStatus['counts'], delivery: DestinationDelivery): Promise<ShardState['hotId']> {
  const { event, key, waiting } = hottest ?? {}
  if (event === undefined) return null
  const payload = await delivery.payloadOf(event)
  const id = key === event.userKey ? payload?.userId : payload?.anonymousId
  return { id: id ?? '', waiting: waiting! }
}

/** Time of the oldest pending event, in the lane or still unread in the log. */
async function oldestPendingAt({ feed }: DestinationDelivery, log: LogReader, takenUp: number): Promise<number> {
  let oldest = takenUp
  for (const partition of feed.partitions) {
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
  return oldest
}
