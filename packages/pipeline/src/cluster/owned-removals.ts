import type { Span } from '@millrace/delivery'
import type { Logger } from '@millrace/std'
import type { Configuration } from '../following/configuration.ts'
import { byScope, RemovalRecords, type RemovalRecordsOptions } from '../following/removal-records.ts'
import type { Removed } from '../following/removals.ts'
import type { SpannedConfiguration } from './owned-shards-options.ts'
import { Turns } from './turns.ts'

const AGAIN_MS = 1_000

export interface OwnedRemovalsOptions extends RemovalRecordsOptions {
  readonly logger: Logger
}

/** Records what removals discarded in the shards of this process, also those that the last owner of a shard has not recorded. */
export class OwnedRemovals {
  readonly #options: OwnedRemovalsOptions
  readonly #records: RemovalRecords
  /** Steps in their order; each takes effect whole or not at all. */
  readonly #unrecorded: (() => Promise<void>)[] = []
  #isRecording = false
  /** Begins with the first step that fails. */
  readonly #turns: Turns

  /** @param options with the partitions of all shards of this process. */
  constructor(options: OwnedRemovalsOptions) {
    this.#options = options
    this.#records = new RemovalRecords(options)
    const recordAll = () => this.#recordAll()
    this.#turns = new Turns(options.clock, AGAIN_MS, recordAll, () => {})
  }

  /** Resolves when the removals of a change are recorded. If they cannot be now, this logs it and tries again by itself. */
  async record(removed: readonly Removed[], before: readonly Span[], configuration: Configuration): Promise<void> {
    for (const parts of byScope(removed)) this.#unrecorded.push(() => this.#record(parts))
    const spans = removedOf(before, configuration, this.#options.partitions())
    // They leave last: until then they show which removals an owner has not recorded.
    if (spans.length > 0) this.#unrecorded.push(() => this.#drop(spans))
    try {
      await this.#recordAll()
    } catch (error) {
      this.#options.logger.warn({ err: error as Error }, 'removals cannot be recorded; retrying')
      this.#turns.start()
    }
  }

  /** Stops trying again. The next owner of each shard records what this process has not recorded. */
  stop(): Promise<void> {
    return this.#turns.stop()
  }

  async #recordAll(): Promise<void> {
    if (this.#isRecording) return
    this.#isRecording = true
    try {
      for (let next = this.#unrecorded[0]; next !== undefined; next = this.#unrecorded[0]) {
        await next()
        this.#unrecorded.shift()
      }
    } finally {
      this.#isRecording = false
    }
  }

  /** @param removed of one scope. */
  async #record(removed: readonly Removed[]): Promise<void> {
    const own = removed.filter(({ ranges }) => this.#own(ranges).length === ranges.length)
    if (own.length > 0) await this.#records.recordScope(own)
  }

  async #drop(spans: readonly Span[]): Promise<void> {
    const own = this.#own(spans)
    if (own.length > 0) await this.#options.store.spans.drop(own)
  }

  /** What belongs to a lost shard is left to its next owner. */
  #own<T extends { readonly partition: number }>(all: readonly T[]): T[] {
    const partitions = this.#options.partitions()
    return all.filter(({ partition }) => partitions.includes(partition))
  }

  /**
   * Records removals that the last owner of a shard has not recorded: the spans of their resources are still there.
   *
   * @param stored read before the configuration: a span that it does not have is of a resource that was removed, and not of
   * one that was made since.
   * @param newest with all of its spans.
   * @param partitions of the shard.
   */
  async recordForgotten(
    stored: readonly Span[],
    newest: SpannedConfiguration,
    partitions: readonly number[],
  ): Promise<void> {
    const { store } = this.#options
    const forgotten = removedOf(stored, newest.configuration, partitions)
    if (forgotten.length === 0) return
    const positions = await store.outcomes.positions()
    const records = new RemovalRecords({ ...this.#options, partitions: () => partitions })
    await records.recordForgotten(forgotten, newest, (reader, partition, stream) => {
      const row = positions.find((each) => {
        return each.reader === reader && each.partition === partition && each.stream === stream
      })
      return row?.position
    })
    await store.spans.drop(forgotten)
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
