import type { PartitionOffset, Scope, Span } from '@millrace/delivery'
import type { LogReader } from '@millrace/log'
import type { DestinationDelivery } from '../delivery/destination-delivery.ts'
import type { Configuration, ConfiguredConnection } from './configuration.ts'

/** A range of the log in which events of a removed destination or connection waited. */
export interface WaitingRange {
  readonly partition: number
  readonly fromOffset: number
  readonly toOffset: number
}

/** What a shard discarded because a configuration no longer contains it. */
export interface Removed {
  readonly scope: Scope & { readonly destinationId: string }
  readonly reason: string
  readonly ranges: readonly WaitingRange[]
  /** Of a removed connection: where another one begins that was made for the same source and destination. */
  readonly keptFrom: readonly PartitionOffset[]
  /** Waiting events, without dead letters. */
  readonly count: number
}

export interface RemovalsOptions {
  readonly log: LogReader
  /** Those of the shard. */
  readonly partitions: readonly number[]
  /** By destination; removed destinations are deleted from it. */
  readonly deliveries: Map<string, DestinationDelivery>
  /** Current number of waiting events. */
  readonly waiting: (scope: Scope) => Promise<number>
}

/**
 * Discards the waiting events of destinations and connections that a new configuration no longer contains.
 *
 * @see contracts/delivery.md §5 [D615]
 */
export class Removals {
  readonly #options: RemovalsOptions

  constructor(options: RemovalsOptions) {
    this.#options = options
  }

  /**
   * Takes effect at once.
   *
   * @param spans of the later configuration.
   * @returns what was removed, when nothing of it is under way any more.
   */
  carryOut(before: Configuration, after: Configuration, spans: readonly Span[]): Promise<Removed[]> {
    const removed: (Promise<Removed> | undefined)[] = []
    for (const id of before.destinations.keys()) {
      if (!after.destinations.has(id)) removed.push(this.#removeDestination(id))
    }
    for (const connection of before.connections.values()) {
      if (after.connections.has(connection.id) || !after.destinations.has(connection.destinationId)) continue
      const keptFrom = beginningOf(connection, after, spans)
      removed.push(this.#removeConnection(connection, reasonOf(connection, after), keptFrom))
    }
    return Promise.all(removed.filter((each) => each !== undefined))
  }

  #removeDestination(id: string): Promise<Removed> | undefined {
    const { deliveries, waiting } = this.#options
    const delivery = deliveries.get(id)
    if (delivery === undefined) return undefined
    const scope = { destinationId: id }
    const count = waiting(scope)
    const ranges = this.#waitingRanges(delivery)
    deliveries.delete(id)
    const stopped = delivery.remove()
    return Promise.all([count, stopped]).then(([count]) => {
      return { scope, reason: 'destination was removed', ranges, keptFrom: [], count }
    })
  }

  #removeConnection(
    { sourceId, destinationId }: ConfiguredConnection,
    reason: string,
    keptFrom: readonly PartitionOffset[],
  ): Promise<Removed> | undefined {
    const { deliveries, waiting } = this.#options
    const delivery = deliveries.get(destinationId)
    if (delivery === undefined) return undefined
    const scope = { destinationId, sourceId }
    const count = waiting(scope)
    const ranges = this.#waitingRanges(delivery, keptFrom)
    delivery.discard(sourceId)
    return count.then((count) => ({ scope, reason, ranges, keptFrom, count }))
  }

  #waitingRanges(delivery: DestinationDelivery, keptFrom: readonly PartitionOffset[] = []): WaitingRange[] {
    const { log, partitions } = this.#options
    return partitions.flatMap((partition) => {
      const ends = [
        log.end(partition),
        ...keptFrom.flatMap((kept) => (kept.partition === partition ? kept.offset : [])),
      ]
      const range = { partition, fromOffset: delivery.neededFrom(partition), toOffset: Math.min(...ends) }
      return range.fromOffset < range.toOffset ? [range] : []
    })
  }
}

/** Where the connections of a configuration for the same source and destination as a removed one begin, by partition. */
export function beginningOf(
  { sourceId, destinationId }: Pick<ConfiguredConnection, 'sourceId' | 'destinationId'>,
  { connections }: Configuration,
  spans: readonly Span[],
): PartitionOffset[] {
  const ofPair = spans.filter((span) => {
    return span.sourceId === sourceId && span.destinationId === destinationId && connections.has(span.resource)
  })
  return [...Map.groupBy(ofPair, ({ partition }) => partition)].map(([partition, own]) => {
    return { partition, offset: Math.min(...own.map(({ fromOffset }) => fromOffset)) }
  })
}

/** The parts of a connection that were removed. */
export function reasonOf(
  { sourceId, destinationId }: Pick<ConfiguredConnection, 'sourceId' | 'destinationId'>,
  { sources, destinations }: Configuration,
): string {
  if (!destinations.has(destinationId)) return 'destination was removed'
  return sources.has(sourceId) ? 'connection was removed' : 'source was removed'
}
