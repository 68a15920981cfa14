import type { Span } from '@millrace/delivery'
import type { Logger, Timer } from '@millrace/std'
import type { Configuration } from '../following/configuration.ts'
import { RemovalRecords, type RemovalRecordsOptions } from '../following/removal-records.ts'
import type { Removed } from '../following/removals.ts'

const AGAIN_MS = 1_000

export interface OwnedRemovalsOptions extends RemovalRecordsOptions {
  readonly logger: Logger
}

/** What a change of the configuration removed. */
interface Removal {
  /** Of all shards of this process. */
  removed: readonly Removed[]
  /** Of the removed resources. They leave last: until then they show which removals an owner has not recorded. */
  readonly spans: readonly Span[]
}

/** Records what removals discarded in the shards of this process, also those that the last owner of a shard has not recorded. */
export class OwnedRemovals {
  readonly #options: OwnedRemovalsOptions
  readonly #records: RemovalRecords
  /** In the order of the changes. */
  readonly #unrecorded: Removal[] = []
  #isRecording = false
  #timer: Timer | undefined
  #isStopped = false

  /** @param options with the partitions of all shards of this process. */
  constructor(options: OwnedRemovalsOptions) {
    this.#options = options
    this.#records = new RemovalRecords(options)
  }

  /** Resolves when the removals of a change are recorded, or cannot be now: then this tries again by itself. */
  async record(removed: readonly Removed[], before: readonly Span[], configuration: Configuration): Promise<void> {
    const spans = removedOf(before, configuration, this.#options.partitions())
    if (removed.length + spans.length === 0) return
    this.#unrecorded.push({ removed, spans })
    await this.#recordAll()
  }

  /** Ends the repetitions: the next owners record what is not recorded. */
  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
  }

  async #recordAll(): Promise<void> {
    if (this.#isRecording || this.#isStopped) return
    this.#isRecording = true
    this.#timer?.cancel()
    try {
      for (let next = this.#unrecorded[0]; next !== undefined; next = this.#unrecorded[0]) {
        await this.#recordOne(next)
        this.#unrecorded.shift()
      }
    } catch (error) {
      const { clock, logger } = this.#options
      logger.warn({ err: error as Error }, 'removals cannot be recorded; retrying')
      if (!this.#isStopped) this.#timer = clock.setTimer(() => void this.#recordAll(), AGAIN_MS)
    } finally {
      this.#isRecording = false
    }
  }

  async #recordOne(removal: Removal): Promise<void> {
    const partitions = this.#options.partitions()
    const isOwn = ({ partition }: { readonly partition: number }) => partitions.includes(partition)
    // What belongs to a lost shard is recorded by its next owner.
    await this.#records.record(removal.removed.filter(({ ranges }) => ranges.every(isOwn)))
    removal.removed = []
    const spans = removal.spans.filter(isOwn)
    if (spans.length > 0) await this.#options.store.spans.drop(spans)
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
