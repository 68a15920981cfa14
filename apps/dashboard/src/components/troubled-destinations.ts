import { useDeliveryStates, useDestinations } from '../api/destinations.ts'
import { serverNow } from '../api/requests/server-clock.ts'
import { destinationState, type NodeState, needsAttention } from './node-state.ts'

const POLL_MS = 30_000

export interface TroubledDestination {
  readonly id: string
  readonly name: string
  readonly state: NodeState
}

/** Destinations that need attention, most urgent first; undefined until they are loaded. */
export function useTroubledDestinations(): readonly TroubledDestination[] | undefined {
  const destinations = useDestinations().data
  const deliveries = useDeliveryStates({ pollMs: POLL_MS }).data
  if (destinations === undefined || deliveries === undefined) return undefined
  const deliveryOf = new Map(deliveries.map((each) => [each.destinationId, each]))
  const now = serverNow()
  return destinations
    .map(({ id, name, enabled }) => ({ id, name, state: destinationState({ enabled }, deliveryOf.get(id), now) }))
    .filter(({ state }) => needsAttention(state))
    .sort((a, b) => a.state.rank - b.state.rank)
}
