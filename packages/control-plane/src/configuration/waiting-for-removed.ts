import type { Deliveries } from '../workspace/deliveries.ts'
import type { Snapshot } from '../workspace/snapshot.ts'
import type { PlannedChange } from './planning.ts'

/**
 * The number of events that wait for removed resources, each counted once: by destination, by source, and by connection
 * if both of its ends stay.
 *
 * @see contracts/delivery.md §5 [D615]
 */
export async function waitingForRemoved(
  deliveries: Deliveries,
  { connections }: Snapshot,
  changes: readonly PlannedChange[],
): Promise<number> {
  const removed = changes.filter(({ action }) => action === 'delete').map(({ change }) => change)
  const sourceIds = idsOf(removed, 'source')
  const destinationIds = idsOf(removed, 'destination')
  let waiting = 0
  for (const destinationId of destinationIds) waiting += await deliveries.waiting({ destinationId })
  for (const sourceId of sourceIds) waiting += await deliveries.waiting({ sourceId })
  for (const id of idsOf(removed, 'connection')) {
    const { sourceId, destinationId } = connections.get(id)!
    const endsGone = Number(sourceIds.has(sourceId)) + Number(destinationIds.has(destinationId))
    // Counted with each removed end.
    if (endsGone !== 1) waiting += (1 - endsGone) * (await deliveries.waiting({ sourceId, destinationId }))
  }
  return waiting
}

function idsOf(changes: readonly PlannedChange['change'][], kind: PlannedChange['kind']): Set<string> {
  return new Set(changes.flatMap((change) => (change.kind === kind ? [change.id] : [])))
}
