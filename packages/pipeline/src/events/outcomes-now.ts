import type { LaneEvent } from '@millrace/delivery'
import type { Clock } from '@millrace/std'
import type { DestinationDelivery } from '../delivery/destination-delivery.ts'
import { type OwnersWait, type ToldWaiting, toldWaiting, waitElsewhere } from '../delivery/why-waiting.ts'
import type { FoundEvent } from './search-calls.ts'

/** The outcome of an event at one destination, as lists show it. */
export interface ShownOutcome {
  readonly destinationId: string
  readonly outcome: string
  readonly reason: string | null
  /** Only without a final outcome. */
  readonly waiting?: ToldWaiting
}

/** Events of a lane read before other tasks of the process run. */
const LOOKED_AT_TOGETHER = 5_000

/**
 * The current outcomes of events: recorded outcomes and, for events in progress, the state in their lanes. Ordered by
 * destination as in the configuration, then removed destinations.
 *
 * @param ownersWait absent: the lanes are of this process.
 */
export async function outcomesNow(
  events: readonly FoundEvent[],
  deliveries: () => Iterable<DestinationDelivery>,
  clock: Pick<Clock, 'now'>,
  ownersWait?: OwnersWait,
): Promise<ShownOutcome[][]> {
  const outcomes = events.map(({ recorded }) => new Map(recorded.map((each) => [each.destinationId, each])))
  const shown: ShownOutcome[][] = events.map(() => [])
  for (const delivery of [...deliveries()]) {
    const { id: destinationId } = delivery.destination
    const underWay = new Map<string, number>()
    for (const [i, event] of events.entries()) {
      const known = outcomes[i]!.get(destinationId)
      outcomes[i]!.delete(destinationId)
      if (event.isDuplicate) {
        if (isConnected(delivery, event)) shown[i]!.push({ destinationId, outcome: 'duplicate', reason: null })
      } else if (known !== undefined && known.outcome !== 'waiting') shown[i]!.push(known)
      else if (known !== undefined || isConnected(delivery, event)) underWay.set(placeKey(event), i)
    }
    if (underWay.size === 0) continue
    const found = await foundInLane(delivery, underWay)
    const ofOwners = await ownersWait?.(destinationId)
    for (const i of underWay.values()) {
      const event = found.get(i)
      const outcome = event === undefined ? 'pending' : delivery.lane.status.outcomeOf(event)
      const own = delivery.lane.status.waitOf(event)
      const waiting = toldWaiting(event === undefined ? waitElsewhere(own, ofOwners) : own, clock.now())
      shown[i]!.push({ destinationId, outcome, reason: null, waiting })
    }
  }
  for (const [i, rest] of outcomes.entries()) {
    for (const { destinationId, outcome, reason } of rest.values()) {
      shown[i]!.push({ destinationId, outcome: outcome === 'waiting' ? 'pending' : outcome, reason })
    }
  }
  return shown
}

function isConnected({ feed }: DestinationDelivery, { sourceId, partition, offset }: FoundEvent): boolean {
  return feed.activity.isConnected(sourceId, partition, offset)
}

/** By the values of `sought`, whose keys are places. */
async function foundInLane(
  { lane }: DestinationDelivery,
  sought: ReadonlyMap<string, number>,
): Promise<Map<number, LaneEvent>> {
  const found = new Map<number, LaneEvent>()
  let lookedAt = 0
  for (const event of lane.unfinished()) {
    // A replay of the log in progress is not yet an outcome of the event.
    const isOfLog = event.replayed !== undefined && event.replayed.letterId === undefined
    const at = isOfLog ? undefined : sought.get(placeKey(event))
    if (at !== undefined) found.set(at, event)
    if (found.size === sought.size) break
    if (++lookedAt % LOOKED_AT_TOGETHER === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  return found
}

function placeKey({ partition, offset, index }: Pick<LaneEvent, 'partition' | 'offset' | 'index'>): string {
  return `${partition} ${offset} ${index}`
}
