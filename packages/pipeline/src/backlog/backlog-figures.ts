import { REPLAY_STREAM } from '@millrace/delivery'
import { type LogReader, type OffsetRange, STREAMS } from '@millrace/log'
import type { DestinationDelivery } from '../delivery/destination-delivery.ts'
import type { WaitingShare } from '../host/shard.ts'
import type { LogTallies } from './log-tallies.ts'

/** Waiting bytes of each destination; an event that waits for two of them counts in both. */
export async function waitingShares(deliveries: Iterable<DestinationDelivery>): Promise<WaitingShare[]> {
  const shares = [...deliveries].map(async (delivery) => ({
    destinationId: delivery.destination.id,
    waitingBytes: delivery.lane.status.unfinishedBytes + (await delivery.untaken.count()).bytes,
  }))
  return Promise.all(shares)
}

/** The bytes that wait for all destinations: an event counts once, however many destinations it waits for. */
export async function waitingBytes(
  deliveries: readonly DestinationDelivery[],
  log: LogReader,
  tallies: LogTallies,
): Promise<number> {
  const untaken = untakenRanges(deliveries, log)
  const takenUp = takenUpBytes(deliveries, untaken)
  let bytes = takenUp
  for (const { partition, stream, sourceId, ranges } of untaken.values()) {
    for (const range of ranges) {
      bytes += (await tallies.tally(partition, STREAMS[stream]!, range)).get(sourceId)?.bytes ?? 0
    }
  }
  return bytes
}

interface UntakenSource {
  readonly partition: number
  readonly stream: number
  readonly sourceId: string
  /** Ordered, without overlap. */
  ranges: OffsetRange[]
}

/** By partition, stream and source: the ranges of the log with events that some destination has not taken. */
function untakenRanges(deliveries: readonly DestinationDelivery[], log: LogReader): Map<string, UntakenSource> {
  const found = new Map<string, UntakenSource>()
  for (const { feed } of deliveries) {
    for (const partition of feed.partitions) {
      const end = log.end(partition)
      for (const stream of STREAMS.keys()) {
        const { offset } = feed.cursor(partition, stream)
        for (const { sourceId, from, to } of feed.activity.connectedRanges(partition, offset, end)) {
          const key = sourceKey(partition, stream, sourceId)
          const known = found.get(key)
          if (known === undefined) found.set(key, { partition, stream, sourceId, ranges: [{ from, to }] })
          else known.ranges.push({ from, to })
        }
      }
    }
  }
  for (const each of found.values()) each.ranges = joined(each.ranges)
  return found
}

function takenUpBytes(deliveries: readonly DestinationDelivery[], untaken: ReadonlyMap<string, UntakenSource>): number {
  const counted = new Set<string>()
  let bytes = 0
  for (const { lane } of deliveries) {
    for (const { partition, stream, offset, index, sourceId, sizeBytes } of lane.unfinished()) {
      const isUntaken = untaken
        .get(sourceKey(partition, stream, sourceId))
        ?.ranges.some(({ from, to }) => from <= offset && offset < to)
      if (isUntaken) continue
      // A replayed event counts separately.
      const key = stream === REPLAY_STREAM ? undefined : `${partition} ${offset} ${index}`
      if (key !== undefined && counted.has(key)) continue
      if (key !== undefined) counted.add(key)
      bytes += sizeBytes
    }
  }
  return bytes
}

function joined(ranges: readonly OffsetRange[]): OffsetRange[] {
  const found: OffsetRange[] = []
  for (const range of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = found.at(-1)
    if (last === undefined || range.from > last.to) found.push(range)
    else found[found.length - 1] = { from: last.from, to: Math.max(last.to, range.to) }
  }
  return found
}

function sourceKey(partition: number, stream: number, sourceId: string): string {
  return `${partition} ${stream} ${sourceId}`
}
