import type { DeliveryStore, Position, Scope, Span } from '@millrace/delivery'
import { type EventLog, STREAMS } from '@millrace/log'
import type { Clock } from '@millrace/std'
import type { DeliveryMetrics } from '../delivery/delivery-metrics.ts'
import type { DestinationDelivery } from '../delivery/destination-delivery.ts'
import type { Configuration, ConfiguredConnection } from './configuration.ts'

/** Position on disk of a reader of the log. */
export type PositionOf = (reader: string, partition: number, stream: number) => Position | undefined

export interface RemovalsOptions {
  readonly log: EventLog
  readonly store: DeliveryStore
  readonly clock: Clock
  readonly metrics: DeliveryMetrics
  /** By destination; removed destinations are deleted from it. */
  readonly deliveries: Map<string, DestinationDelivery>
  /** Current number of waiting events and open dead letters. */
  readonly waiting: (scope: Scope) => Promise<number>
}

interface WaitingRange {
  readonly partition: number
  readonly fromOffset: number
  readonly toOffset: number
}

/**
 * Discards the waiting events of destinations and connections that a new configuration no longer contains, and records
 * the reason.
 *
 * @see contracts/delivery.md §5 [D615]
 */
export class Removals {
  readonly #options: RemovalsOptions

  constructor(options: RemovalsOptions) {
    this.#options = options
  }

  /** Takes effect at once. @returns functions that record it; call them one after the other. */
  carryOut(before: Configuration, after: Configuration): (() => Promise<void>)[] {
    const recordings: (() => Promise<void>)[] = []
    for (const id of before.destinations.keys()) {
      if (!after.destinations.has(id)) recordings.push(this.#removeDestination(id))
    }
    for (const connection of before.connections.values()) {
      if (after.connections.has(connection.id) || !after.destinations.has(connection.destinationId)) continue
      recordings.push(this.#removeConnection(connection, reasonOf(connection, after)))
    }
    return recordings
  }

  /** After a crash, spans of removed connections show which removals were not recorded. */
  async recordForgotten(spans: readonly Span[], configuration: Configuration, positionOf: PositionOf): Promise<void> {
    const { log, store } = this.#options
    for (const span of spans) {
      const { destinationId, sourceId, partition, fromOffset } = span
      if (span.kind !== 'connection' || configuration.connections.has(span.resource)) continue
      const scope = { destinationId, sourceId }
      const toOffset = span.toOffset ?? log.end(partition)
      let count = await store.deadLetters.countOpen(scope)
      let oldest = toOffset
      const { waiting } = await store.outcomes.resume(destinationId)
      for (const [stream, name] of STREAMS.entries()) {
        const position = Math.max(fromOffset, positionOf(destinationId, partition, stream)?.offset ?? fromOffset)
        const tally = await log.tally(partition, name, { from: position, to: Math.max(position, toOffset) })
        count += tally.get(sourceId)?.events ?? 0
        oldest = Math.min(oldest, position)
        for (const wait of waiting) {
          if (wait.sourceId !== sourceId || wait.partition !== partition || wait.stream !== stream) continue
          if (wait.offset >= position) continue
          count++
          oldest = Math.min(oldest, wait.offset)
        }
      }
      const range = { partition, fromOffset: oldest, toOffset }
      await this.#record(scope, [range], reasonOf(scope, configuration), count)
    }
  }

  #removeDestination(id: string): () => Promise<void> {
    const { deliveries, waiting } = this.#options
    const delivery = deliveries.get(id)
    if (delivery === undefined) return () => Promise.resolve()
    const count = waiting({ destinationId: id })
    const ranges = this.#waitingRanges(delivery)
    deliveries.delete(id)
    const stopped = delivery.remove()
    return async () => {
      await this.#record({ destinationId: id }, ranges, 'destination was removed', await count)
      await stopped
    }
  }

  #removeConnection({ sourceId, destinationId }: ConfiguredConnection, reason: string): () => Promise<void> {
    const { deliveries, waiting } = this.#options
    const delivery = deliveries.get(destinationId)
    if (delivery === undefined) return () => Promise.resolve()
    const count = waiting({ destinationId, sourceId })
    const ranges = this.#waitingRanges(delivery)
    delivery.lane.discard(sourceId)
    return async () => this.#record({ destinationId, sourceId }, ranges, reason, await count)
  }

  #waitingRanges(delivery: DestinationDelivery): WaitingRange[] {
    const { log } = this.#options
    return Array.from({ length: log.partitions }, (_, partition) => ({
      partition,
      fromOffset: delivery.neededFrom(partition),
      toOffset: log.end(partition),
    }))
  }

  async #record(
    scope: { readonly destinationId: string; readonly sourceId?: string },
    ranges: readonly WaitingRange[],
    reason: string,
    count: number,
  ): Promise<void> {
    const { store, clock, metrics } = this.#options
    const at = clock.now()
    const { destinationId, sourceId = null } = scope
    // Even if the count is zero, dead letters may be on their way into a lane.
    const rows = (count === 0 ? [] : ranges).map((range) => ({
      ...range,
      destinationId,
      sourceId,
      outcome: 'discarded' as const,
      reason,
      count,
      at,
    }))
    await store.outcomes.discard({ scope, ranges: rows, reason, at })
    if (count > 0) metrics.outcome(destinationId, 'discarded', count)
  }
}

/** The parts of a connection that were removed. */
function reasonOf(
  { sourceId, destinationId }: Pick<ConfiguredConnection, 'sourceId' | 'destinationId'>,
  { sources, destinations }: Configuration,
): string {
  if (!destinations.has(destinationId)) return 'destination was removed'
  return sources.has(sourceId) ? 'connection was removed' : 'source was removed'
}
