import {
  type DeadLetterRow,
  type DeliveryStore,
  LaneOutcomes,
  LocalDestinationLimits,
  LocalMemoryBudget,
} from '@millrace/delivery'
import type { Waiting } from '@millrace/wording'
import { BackedLog } from '../backlog/backed-log.ts'
import { LogTallies } from '../backlog/log-tallies.ts'
import { type DeliveryDeps, moduleOf } from '../delivery/delivery-deps.ts'
import type { DeliveryMetrics } from '../delivery/delivery-metrics.ts'
import { DestinationDeliveries } from '../delivery/destination-deliveries.ts'
import { shardState } from '../delivery/shard-state.ts'
import type { OwnersWait } from '../delivery/why-waiting.ts'
import { outcomesNow } from '../events/outcomes-now.ts'
import type { FoundEvent } from '../events/search-calls.ts'
import { type TraceAsked, traceEvents } from '../events/traces.ts'
import { ConfiguredSources } from '../following/configured-sources.ts'
import { Spans } from '../following/spans.ts'
import type { ShardState } from '../host/shard.ts'
import type { ShardDeps } from '../pipeline-options.ts'
import { MessageIndex } from '../reading/message-index.ts'
import { ParsedRecords } from '../reading/parsed-records.ts'
import type { ClusterLog } from './cluster-log.ts'
import type { SpannedConfiguration } from './owned-shards-options.ts'

export interface StoredViewOptions
  extends Omit<ShardDeps, 'log' | 'store' | 'memory' | 'limitsOf' | 'onDelivered' | 'onReplayEnded' | 'metrics'> {
  readonly log: ClusterLog
  readonly store: DeliveryStore
  readonly metrics: DeliveryMetrics
  readonly configured: SpannedConfiguration
  /** Parallel to the ids: what the owners of shards have written last. */
  readonly ownersStates: (destinationIds: readonly string[]) => Promise<readonly (readonly ShardState[])[]>
}

/**
 * Answers about the events of the whole installation from the log and the store alone, whichever processes deliver them. It has
 * every destination with its stages, and delivers nothing: its lanes stay empty. So it shows what owners have written, and an
 * event that an owner has in its lane is pending here, for the reason that its destination gives.
 *
 * @see contracts/cluster.md §10 [K19]
 */
export class StoredView {
  readonly #options: StoredViewOptions
  readonly #backed: BackedLog
  readonly #deps: DeliveryDeps
  readonly #spans: Spans
  readonly #deliveries: DestinationDeliveries
  readonly #index: MessageIndex
  readonly #all: readonly number[]
  #configured: SpannedConfiguration

  constructor(options: StoredViewOptions) {
    const { log, store, configured, findModule, logger, ...given } = options
    this.#options = options
    this.#configured = configured
    this.#backed = new BackedLog(log, store.backlog)
    this.#spans = new Spans(log, configured.spans)
    this.#deliveries = new DestinationDeliveries(this.#spans)
    this.#index = new MessageIndex(store.messages)
    this.#all = Array.from({ length: log.partitions }, (_, partition) => partition)
    const sources = new ConfiguredSources(() => this.#configured.configuration, options.sourceClass)
    this.#deps = {
      ...given,
      logger,
      log: this.#backed,
      partitions: [],
      store: readingStore(store),
      memory: new LocalMemoryBudget(0),
      limitsOf: () => new LocalDestinationLimits(),
      tallies: new LogTallies(this.#backed),
      parsed: new ParsedRecords((partition, offset, error) =>
        logger.error({ partition, offset, cause: error.message }, 'a stored record cannot be read'),
      ),
      moduleOf: moduleOf(findModule),
      sourceOf: (sourceId) => sources.get(sourceId),
      tailAt: () => 0,
      backfillEnd: () => 0,
      onDelivered: () => {},
    }
    this.#follow(configured)
  }

  get configured(): SpannedConfiguration {
    return this.#configured
  }

  async configure(configured: SpannedConfiguration): Promise<void> {
    this.#configured = configured
    this.#spans.reconcile({ ...configured, ends: [] })
    const removed = [...this.#deliveries.byId.values()].filter(({ destination }) => {
      return !configured.configuration.destinations.has(destination.id)
    })
    for (const { destination } of removed) this.#deliveries.byId.delete(destination.id)
    this.#follow(configured)
    await Promise.all(removed.map((delivery) => delivery.remove()))
  }

  /** The trace of each accepted event with this messageId, oldest first. */
  async trace(messageId: string, asked: Omit<TraceAsked, 'messageId'> = {}): Promise<object[]> {
    const { store, clock } = this.#options
    await this.#backed.refresh()
    const deliveries = this.#deliveries.byId
    const ownersWait = this.#ownersWait()
    const sources = {
      partitions: this.#all,
      store,
      clock,
      log: this.#backed,
      index: this.#index,
      deliveries,
      ownersWait,
    }
    const traces = await traceEvents(sources, { messageId, ...asked })
    return traces.sort((a, b) => acceptedAt(a).localeCompare(acceptedAt(b)))
  }

  /** Parallel to the ids: a destination at rest; what its shards have comes from their owners. Undefined: unknown. */
  async states(destinationIds: readonly string[]): Promise<(ShardState | undefined)[]> {
    const deliveries = destinationIds.map((id) => this.#deliveries.byId.get(id))
    return Promise.all(
      deliveries.map(async (delivery) => {
        return delivery && { ...(await shardState(delivery, this.#backed)), concurrency: 0 }
      }),
    )
  }

  outcomesNow(events: readonly FoundEvent[]) {
    return outcomesNow(events, () => this.#deliveries.byId.values(), this.#options.clock, this.#ownersWait())
  }

  /** The destinations that a source was connected to at an offset. */
  destinationsOf(sourceId: string, partition: number, offset: number): string[] {
    return this.#deliveries
      .ofSource(sourceId)
      .filter(({ feed }) => feed.activity.isConnected(sourceId, partition, offset))
      .map(({ destination }) => destination.id)
  }

  async renderedRequest(letter: DeadLetterRow) {
    return this.#deliveries.byId.get(letter.destinationId)?.stages.renderedRequest(letter)
  }

  async close(): Promise<void> {
    const now = Promise.resolve()
    await Promise.all([...this.#deliveries.byId.values()].map(({ lane }) => lane.stop(now)))
  }

  /** Reads the states of all destinations once, if it is called. */
  #ownersWait(): OwnersWait {
    let reading: Promise<ReadonlyMap<string, Waiting>> | undefined
    const read = async () => {
      const ids = [...this.#deliveries.byId.keys()]
      const states = await this.#options.ownersStates(ids)
      const waits = ids.map((id, i) => [id, states[i]!.find(({ wait }) => wait !== undefined)?.wait] as const)
      return new Map(waits.flatMap(([id, wait]) => (wait === undefined ? [] : [[id, wait] as const])))
    }
    return async (destinationId) => {
      reading ??= read()
      return (await reading).get(destinationId)
    }
  }

  #follow(configured: SpannedConfiguration): void {
    this.#deliveries.openNew({ ...configured, ends: [] }, this.#deps)
    this.#deliveries.configure(configured.configuration)
  }
}

/** Its lanes write nothing. */
function readingStore(store: DeliveryStore): DeliveryDeps['store'] {
  return {
    ...{ outcomes: store.outcomes, deadLetters: store.deadLetters, jobs: store.jobs, backlog: store.backlog },
    ...{ messages: store.messages, spans: store.spans },
    outcomesOf: (id) => new LaneOutcomes(id, () => {}),
    flush: async () => {},
    trouble: () => undefined,
  }
}

function acceptedAt(trace: object): string {
  return (trace as { acceptedAt: string }).acceptedAt
}
