import type { Span } from '@millrace/delivery'
import type { Configuration } from '../following/configuration.ts'
import { RemovalRecords, type RemovalRecordsOptions } from '../following/removal-records.ts'
import type { Removed } from '../following/removals.ts'

/** Records what removals discarded in the shards of this process, also those that the last owner of a shard has not recorded. */
export class OwnedRemovals {
  readonly #options: RemovalRecordsOptions
  readonly #records: RemovalRecords

  /** @param options with the partitions of all shards of this process. */
  constructor(options: RemovalRecordsOptions) {
    this.#options = options
    this.#records = new RemovalRecords(options)
  }

  async record(removed: readonly Removed[]): Promise<void> {
    if (removed.length > 0) await this.#records.record(removed)
  }

  /**
   * Records removals that the last owner of a shard has not recorded: the spans of their resources are still there.
   *
   * @param stored read before the configuration: a span that it does not have is of a resource that was removed, and not of
   * one that was made since.
   * @param partitions of the shard.
   */
  async recordForgotten(
    stored: readonly Span[],
    configuration: Configuration,
    partitions: readonly number[],
  ): Promise<void> {
    const { store } = this.#options
    const forgotten = removedOf(stored, configuration, partitions)
    if (forgotten.length === 0) return
    const positions = await store.outcomes.positions()
    const records = new RemovalRecords({ ...this.#options, partitions: () => partitions })
    await records.recordForgotten(forgotten, configuration, (reader, partition, stream) => {
      const row = positions.find((each) => {
        return each.reader === reader && each.partition === partition && each.stream === stream
      })
      return row?.position
    })
    await store.spans.drop(forgotten)
  }

  /** Spans of removed resources leave last: until then they show which removals an owner has not recorded. */
  async dropSpans(before: readonly Span[], configuration: Configuration): Promise<void> {
    const removed = removedOf(before, configuration, this.#options.partitions())
    if (removed.length > 0) await this.#options.store.spans.drop(removed)
  }
}

function removedOf(spans: readonly Span[], configuration: Configuration, partitions: readonly number[]): Span[] {
  return spans.filter((span) => partitions.includes(span.partition) && !isConfigured(span, configuration))
}

/** Whether a configuration has the resource of a span. */
export function isConfigured(
  { kind, resource }: Pick<Span, 'kind' | 'resource'>,
  { connections, destinations }: Configuration,
): boolean {
  return kind === 'connection' ? connections.has(resource) : destinations.has(resource)
}
