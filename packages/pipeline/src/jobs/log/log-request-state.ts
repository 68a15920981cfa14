import type { DeliveryStore } from '@millrace/delivery'
import type { EventLog } from '@millrace/log'
import { ApiError, badRequest } from '@millrace/openapi'
import { formatTime } from '@millrace/protocol'
import type { ConfiguredDestination } from '../../following/configuration.ts'
import type { LogRequest } from './log-request.ts'

interface Known {
  readonly destination: (destinationId: string) => Pick<ConfiguredDestination, 'isEnabled'> | undefined
  readonly isConnected: (sourceId: string, destinationId: string) => boolean
}

/** @throws ApiError 400 for ids that are unknown or not connected, then 409 for a disabled destination. */
export function refuseUnlessReplayable({ sourceIds, destinationIds }: LogRequest, known: Known): void {
  for (const id of destinationIds) {
    if (sourceIds.every((sourceId) => known.isConnected(sourceId, id))) continue
    throw badRequest(`Destination with id ${id} is not connected to the given sources`)
  }
  for (const id of destinationIds) {
    if (known.destination(id)?.isEnabled === true) continue
    throw new ApiError('conflict', `Destination with id ${id} is disabled`)
  }
}

interface KeptRange {
  readonly log: Pick<EventLog, 'oldest' | 'deletedBefore'>
  readonly store: Pick<DeliveryStore, 'outcomes'>
  /** The partitions that may hold events of a source. */
  readonly partitionsOf: (sourceId: string) => readonly number[]
}

/**
 * Refuses a range in which the log, or for a filter by outcome the traces, have deleted something.
 *
 * @throws ApiError 409
 * @see contracts/delivery.md §10 [D620, D621]
 */
export async function refuseUnlessKept(
  { sourceIds, from, outcomes }: LogRequest,
  { log, store, partitionsOf }: KeptRange,
): Promise<void> {
  for (const partition of new Set(sourceIds.flatMap((sourceId) => partitionsOf(sourceId)))) {
    const oldest = await log.oldest(partition)
    // A log that has deleted nothing has the whole range, even if it is younger.
    if (oldest === undefined || (await log.deletedBefore(partition)) === 0) continue
    if (from < oldest.acceptedAt) throw older('log', oldest.acceptedAt)
  }
  if (outcomes.length === 0) return
  const dropped = await store.outcomes.droppedUntil()
  if (dropped !== undefined && from < dropped) throw older('traces', dropped)
}

function older(than: string, availableFrom: number): ApiError {
  return new ApiError('conflict', `Range is older than the ${than}`, {
    details: { availableFrom: formatTime(availableFrom) },
  })
}
