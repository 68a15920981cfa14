import type { DeliveryStore, Scope, Span } from '@millrace/delivery'
import { type EventLog, STREAMS } from '@millrace/log'
import type { Clock } from '@millrace/std'
import type { DeliveryMetrics } from '../delivery/delivery-metrics.ts'
import type { Configuration } from './configuration.ts'
import { beginningOf, type Removed, reasonOf } from './removals.ts'
import type { PositionOf } from './starting-places.ts'

export interface RemovalRecordsOptions {
  readonly log: EventLog
  readonly store: DeliveryStore
  readonly clock: Clock
  readonly metrics: DeliveryMetrics
  /** Those that this process delivers. */
  readonly partitions: () => readonly number[]
}

/** Records what removals discarded, with the reason. @see contracts/delivery.md §5 [D615] */
export class RemovalRecords {
  readonly #options: RemovalRecordsOptions

  constructor(options: RemovalRecordsOptions) {
    this.#options = options
  }

  /** @param removed of all shards. */
  async record(removed: readonly Removed[]): Promise<void> {
    for (const parts of byScope(removed)) await this.recordScope(parts)
  }

  /** @param parts of one scope, at least one. */
  async recordScope(parts: readonly Removed[]): Promise<void> {
    await this.#record(joined(parts))
  }

  /**
   * After a crash, spans of removed connections show which removals were not recorded.
   *
   * @param current all spans that belong to the configuration.
   */
  async recordForgotten(
    spans: readonly Span[],
    { configuration, spans: current }: { readonly configuration: Configuration; readonly spans: readonly Span[] },
    positionOf: PositionOf,
  ): Promise<void> {
    const { log, store } = this.#options
    for (const span of spans) {
      const { destinationId, sourceId, partition, fromOffset } = span
      if (span.kind !== 'connection' || configuration.connections.has(span.resource)) continue
      const scope = { destinationId, sourceId }
      const keptFrom = beginningOf(scope, configuration, current)
      const kept = keptFrom.find((each) => each.partition === partition)?.offset ?? Number.POSITIVE_INFINITY
      const toOffset = Math.min(span.toOffset ?? log.end(partition), kept)
      let count = 0
      let oldest = toOffset
      const { waiting } = await store.outcomes.resume({ destinationId, partitions: [partition] })
      for (const [stream, name] of STREAMS.entries()) {
        const position = Math.max(fromOffset, positionOf(destinationId, partition, stream)?.offset ?? fromOffset)
        const tally = await log.tally(partition, name, { from: position, to: Math.max(position, toOffset) })
        count += tally.get(sourceId)?.events ?? 0
        oldest = Math.min(oldest, position)
        for (const wait of waiting) {
          if (wait.sourceId !== sourceId || wait.stream !== stream) continue
          if (wait.offset >= Math.min(position, kept)) continue
          count++
          oldest = Math.min(oldest, wait.offset)
        }
      }
      const ranges = [{ partition, fromOffset: oldest, toOffset }]
      await this.#record({ scope, reason: reasonOf(scope, configuration), ranges, keptFrom, count })
    }
  }

  async #record({ scope, reason, ranges, keptFrom, count }: Removed): Promise<void> {
    const { store, clock, metrics } = this.#options
    const at = clock.now()
    const { destinationId, sourceId = null } = scope
    const rows = (count === 0 ? [] : ranges).map((range) => ({
      ...range,
      destinationId,
      sourceId,
      outcome: 'discarded' as const,
      reason,
      count,
      at,
    }))
    // Other owners discard the dead letters of their partitions.
    const letters = await store.outcomes.discard({
      scope,
      partitions: this.#options.partitions(),
      keptFrom,
      ranges: rows,
      reason,
      at,
    })
    if (count + letters > 0) metrics.outcome(destinationId, 'discarded', count + letters)
  }
}

/** Each removal with its parts from all shards. */
export function byScope(removed: readonly Removed[]): Iterable<readonly Removed[]> {
  return Map.groupBy(removed, ({ scope }) => `${scope.destinationId} ${scope.sourceId ?? ''}`).values()
}

function joined(parts: readonly Removed[]): Removed {
  // Every shard knows the spans of all of them.
  const { scope, reason, keptFrom } = parts[0]!
  const count = parts.reduce((sum, part) => sum + part.count, 0)
  return { scope: scope satisfies Scope, reason, ranges: parts.flatMap(({ ranges }) => ranges), keptFrom, count }
}
