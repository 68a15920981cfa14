import type { DeliveryState, Destination } from '@millrace/api-types'
import { waitingOf } from '../../api/destinations.ts'
import { destinationState, type NodeState, needsAttention } from '../../components/node-state.ts'
import { isPartOf } from '../../components/part-of.ts'
import type { MarkKind } from '../../components/state-mark.tsx'
import { waitingText } from '../../components/time/waiting-text.ts'
import type { StateName } from './destinations-search.ts'

/** A destination with what it does now; figures are null while they are not known. */
export interface ListedDestination {
  readonly destination: Destination
  readonly state: NodeState
  /** Why its events wait. */
  readonly why: string | undefined
  readonly perMinute: number | null
  readonly waiting: number | null
  readonly dead: number | null
}

export function listedDestinations(
  destinations: readonly Destination[],
  states: readonly DeliveryState[] | undefined,
  rates: ReadonlyMap<string, number | null>,
  now: number,
): ListedDestination[] {
  const byId = new Map(states?.map((state) => [state.destinationId, state]))
  return destinations.map((destination) => {
    const delivery = byId.get(destination.id)
    return {
      destination,
      state: destinationState(destination, delivery, now),
      why: delivery?.waiting ? waitingText(delivery.waiting, now) : undefined,
      perMinute: rates.get(destination.id) ?? null,
      waiting: delivery === undefined ? null : waitingOf(delivery),
      dead: delivery?.deadLettersOpen ?? null,
    }
  })
}

export interface DestinationFilter {
  readonly q?: string
  readonly state?: StateName
  readonly type?: string
}

export function fitsFilter({ destination, state }: ListedDestination, filter: DestinationFilter): boolean {
  const { id, key, name, type } = destination
  return (
    isPartOf(filter.q ?? '', id, key, name) &&
    (filter.type === undefined || filter.type === type) &&
    (filter.state === undefined || fitsState(state, filter.state))
  )
}

function fitsState(state: NodeState, name: StateName): boolean {
  return name === 'attention' ? needsAttention(state) : KINDS[name] === state.kind
}

const KINDS: Readonly<Record<Exclude<StateName, 'attention'>, MarkKind>> = {
  unauthorised: 'failed',
  resting: 'resting',
  behind: 'behind',
  dead: 'dead',
  off: 'off',
  ok: 'ok',
}
