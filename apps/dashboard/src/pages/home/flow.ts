import type { Connection, DeliveryState, Destination, Series, Source, Stats, Transformation } from '@millrace/api-types'
import type { Waiting } from '@millrace/wording'
import { rateOf, sumOf } from '../../components/figures/series.ts'
import { destinationState, type NodeState, sourceState } from '../../components/node-state.ts'

/** Maximum of nodes in a column. */
const COLUMN = 12

export interface FlowNode {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly state: NodeState
  /** Accepted or delivered events a second; null until it is loaded. */
  readonly rate: number | null
}

export interface DestinationNode extends FlowNode {
  /** Why its events wait. */
  readonly waiting: Waiting | null
  readonly chain: readonly { readonly id: string; readonly name: string }[]
}

interface FlowLine {
  readonly id: string
  readonly sourceId: string
  readonly destinationId: string
  readonly isOff: boolean
  /** Of its source. */
  readonly rate: number | null
}

export interface Flow {
  readonly sources: readonly FlowNode[]
  readonly destinations: readonly DestinationNode[]
  /** Between visible nodes. */
  readonly lines: readonly FlowLine[]
  readonly moreSources: number
  readonly moreDestinations: number
}

export interface FlowData {
  readonly sources: readonly Source[]
  readonly destinations: readonly Destination[]
  readonly connections: readonly Connection[]
  readonly transformations: readonly Transformation[]
  /** Over the last five minutes. */
  readonly stats: Stats | undefined
  readonly deliveries: readonly DeliveryState[]
  readonly now: number
}

/**
 * The content of the flow picture: in each column nodes with problems first, then by rate.
 *
 * @param focus id of a source or destination: shows only it and its neighbours.
 */
export function flowOf(data: FlowData, focus: string | undefined): Flow {
  const { connections } = data
  const near = focus === undefined ? undefined : neighbours(connections, focus)
  const isNear = ({ id }: FlowNode) => near === undefined || near.has(id)
  const sources = sourceNodes(data).filter(isNear)
  const destinations = destinationNodes(data).filter(isNear)
  const shown = {
    sources: sources.toSorted(byNeed).slice(0, COLUMN),
    destinations: destinations.toSorted(byNeed).slice(0, COLUMN),
  }
  return {
    ...shown,
    lines: linesBetween(shown.sources, shown.destinations, connections),
    moreSources: sources.length - shown.sources.length,
    moreDestinations: destinations.length - shown.destinations.length,
  }
}

/** Sum of all nodes; null if none is known. */
export function totalRates({ stats }: Pick<FlowData, 'stats'>): { accepted: number | null; delivered: number | null } {
  const total = (series: readonly Series[] | undefined) => {
    const rates = series?.map((each) => rateOf(each, stats!.stepSeconds)).filter((rate) => rate !== null) ?? []
    return series === undefined || rates.length < Math.min(series.length, 1) ? null : sumOf(rates)
  }
  return {
    accepted: total(stats?.sources.map(({ accepted }) => accepted)),
    delivered: total(stats?.destinations.map(({ delivered }) => delivered)),
  }
}

export function sourceNodes({ sources, stats, connections }: FlowData): FlowNode[] {
  const connected = new Set(connections.map(({ sourceId }) => sourceId))
  const statsOf = new Map(stats?.sources.map((each) => [each.id, each]))
  return sources.map((source) => {
    const { accepted, refused, lastEventAt } = statsOf.get(source.id) ?? {}
    return {
      id: source.id,
      name: source.name,
      type: source.type,
      state: sourceState(source, sumOf(refused ?? []), !connected.has(source.id) && (lastEventAt ?? null) !== null),
      rate: rateOf(accepted, stats?.stepSeconds),
    }
  })
}

export function destinationNodes({
  destinations,
  transformations,
  stats,
  deliveries,
  now,
}: FlowData): DestinationNode[] {
  const statsOf = new Map(stats?.destinations.map((each) => [each.id, each]))
  const deliveryOf = new Map(deliveries.map((each) => [each.destinationId, each]))
  const nameOf = new Map(transformations.map(({ id, name }) => [id, name]))
  return destinations.map((destination) => {
    const { id, name, type, transformationIds } = destination
    return {
      id,
      name,
      type,
      state: destinationState(destination, deliveryOf.get(id), now),
      waiting: deliveryOf.get(id)?.waiting ?? null,
      rate: rateOf(statsOf.get(id)?.delivered, stats?.stepSeconds),
      chain: transformationIds.map((id) => ({ id, name: nameOf.get(id) ?? id })),
    }
  })
}

function linesBetween(
  sources: readonly FlowNode[],
  destinations: readonly FlowNode[],
  connections: readonly Connection[],
): FlowLine[] {
  const sourceOf = new Map(sources.map((node) => [node.id, node]))
  const destinationOf = new Map(destinations.map((node) => [node.id, node]))
  return connections.flatMap(({ id, sourceId, destinationId, enabled }) => {
    const [source, destination] = [sourceOf.get(sourceId), destinationOf.get(destinationId)]
    if (source === undefined || destination === undefined) return []
    const isOff = !enabled || source.state.kind === 'off' || destination.state.kind === 'off'
    return [{ id, sourceId, destinationId, isOff, rate: source.rate }]
  })
}

function neighbours(connections: readonly Connection[], focus: string): ReadonlySet<string> {
  const beside = connections.flatMap(({ sourceId, destinationId }) => {
    if (sourceId === focus) return [destinationId]
    return destinationId === focus ? [sourceId] : []
  })
  return new Set([focus, ...beside])
}

function byNeed(a: FlowNode, b: FlowNode): number {
  return a.state.rank - b.state.rank || (b.rate ?? 0) - (a.rate ?? 0)
}
