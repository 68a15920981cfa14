import type { DeliveryStore, Scope } from '@millrace/delivery'
import type { EventLog } from '@millrace/log'
import type { Clock, Logger } from '@millrace/std'
import { BackedLog } from '../backlog/backed-log.ts'
import { BacklogBudget } from '../backlog/backlog-budget.ts'
import { LogBudget } from '../backlog/log-budget.ts'
import { DeliveredListeners } from '../delivery/delivered-listeners.ts'
import { type DeliveryCounts, DeliveryMetrics } from '../delivery/delivery-metrics.ts'
import { DeliveryStates } from '../delivery/delivery-state.ts'
import { RunRecovery } from '../delivery/run-recovery.ts'
import { DeadLetters } from '../events/dead-letters.ts'
import { EventList } from '../events/event-list.ts'
import { LiveView } from '../events/live-view.ts'
import type { TraceAsked } from '../events/traces.ts'
import { type Configuration, partitionsOf } from '../following/configuration.ts'
import { RemovalRecords } from '../following/removal-records.ts'
import { type SpanChange, Spans } from '../following/spans.ts'
import type { PositionOf } from '../following/starting-places.ts'
import { Housekeeping } from '../housekeeping.ts'
import { Jobs } from '../jobs/jobs.ts'
import { LogScan } from '../jobs/log/log-scan.ts'
import type { ShardDeps } from '../pipeline-options.ts'
import { recordDamage } from '../reading/damage.ts'
import { ParsedRecords } from '../reading/parsed-records.ts'
import { addedCounts } from './added-counts.ts'
import type { PartitionNeeds, Shard, ShardActivity } from './shard.ts'

/** What the host gives to its shards. */
export interface ShardContext extends Pick<ShardDeps, 'metrics' | 'onReplayEnded'> {
  readonly live: LiveView
  readonly delivered: DeliveredListeners
  readonly configuration: Configuration
  /** After unclean ends: one shard on this thread runs the unfinished events one at a time. */
  readonly recovery: RunRecovery
}

/** Starts the shards, which together own every partition of the log. */
export type OpenShards<S extends Shard = Shard> = (context: ShardContext) => Promise<readonly S[]>

export interface DeliveryHostOptions<S extends Shard = Shard> {
  readonly log: EventLog
  readonly store: DeliveryStore
  readonly configuration: Configuration
  readonly openShards: OpenShards<S>
  readonly clock: Clock
  /** 0 ≤ random < 1. */
  readonly random: () => number
  readonly traces: { readonly keepMs: number; readonly maxBytes: number }
  readonly logKeepMs: number
  /** Another reader of the log, which keeps records that it has not read; the schema catalog has this type. */
  readonly otherReader: {
    neededFrom(partition: number): number
    /** Why the reader has stopped. */
    trouble(): string | undefined
  }
  /** Maximum bytes on disk for waiting events and open dead letters; 0: no limit. */
  readonly backlogMaxBytes: number
  /** Maximum bytes on disk for the log; 0: no limit. */
  readonly logMaxBytes: number
  /** Whether free space is under twice the floor; absent: never. */
  readonly isDiskShort?: () => boolean
  /**
   * From this number of unclean ends of the process within ten minutes, unfinished events run one at a time; 0: never.
   */
  readonly uncleanEnds: number
  /** For the audit log: the storage budget expired events of a destination. */
  readonly tellExpired: (destinationId: string, count: number) => void
  readonly logger: Logger
}

/**
 * The delivery of one process: the shards that deliver, and what exists once for all of them. It starts and stops them,
 * passes them each configuration, joins their answers, and keeps the log and the backlog within their bounds.
 *
 * @see contracts/delivery.md §11a; decision 0106
 */
export class DeliveryHost<S extends Shard = Shard> {
  readonly metrics = new DeliveryMetrics()
  /** Called for each delivery. */
  readonly delivered = new DeliveredListeners()
  readonly jobs: Jobs
  readonly events: EventList
  readonly live: LiveView
  readonly states: DeliveryStates
  readonly deadLetters: DeadLetters
  readonly #options: DeliveryHostOptions<S>
  readonly #spans: Spans
  readonly #recovery: RunRecovery
  readonly #removals: RemovalRecords
  readonly #housekeeping: Housekeeping
  readonly #backlog: BacklogBudget
  readonly #logBudget: LogBudget
  #shards: readonly S[] = []
  #shardOf = new Map<number, S>()
  #configuration: Configuration
  #stopped: Promise<void> | undefined
  #stopListeningForDamage: () => void = () => {}
  /** Applies configurations one after the other. */
  #recording: Promise<void> = Promise.resolve()

  /** Continues where the last run stopped, and starts delivering. */
  static async start<S extends Shard>(options: DeliveryHostOptions<S>): Promise<DeliveryHost<S>> {
    const { log } = options
    const ends = Array.from({ length: log.partitions }, (_, partition) => log.end(partition))
    const recovery = await RunRecovery.begin({ ...options, ends: async () => ends })
    try {
      const host = new DeliveryHost(options, new Spans(options.log, await options.store.spans.all()), recovery)
      await host.#start()
      return host
    } catch (error) {
      // The error explains a failed start: it must not count as an unclean end.
      await recovery.end()
      throw error
    }
  }

  private constructor(options: DeliveryHostOptions<S>, spans: Spans, recovery: RunRecovery) {
    const { log, store, clock, logger } = options
    const tellOfThread = (error: Error) => logger.warn({ err: error }, 'a read-only thread ended; it restarts')
    this.#options = options
    this.#configuration = options.configuration
    this.#spans = spans
    this.#recovery = recovery
    this.live = new LiveView(clock)
    this.events = new EventList({
      log,
      store,
      clock,
      shardOf: (partition) => this.shardOf(partition),
      spans: () => spans.all,
      onThreadEnd: tellOfThread,
    })
    this.#removals = new RemovalRecords({
      log,
      store,
      clock,
      metrics: this.metrics,
      partitions: () => this.#partitions(),
    })
    this.deadLetters = new DeadLetters(log, store.deadLetters, (partition) => this.shardOf(partition))
    const destinationIds = () => this.#configuration.destinations.keys()
    this.states = new DeliveryStates({
      store,
      clock,
      counts: () => this.counts(),
      states: async (ids) => {
        const parts = await Promise.all(this.#shards.map((shard) => shard.states(ids)))
        return ids.map((_, i) => parts.flatMap((part) => part[i] ?? []))
      },
      destinationIds,
    })
    this.jobs = this.#newJobs(tellOfThread)
    this.#backlog = this.#newBacklogBudget()
    this.#logBudget = this.#newLogBudget()
    this.#housekeeping = this.#newHousekeeping()
  }

  #newJobs(onThreadEnd: (error: Error) => void): Jobs {
    const { log, store, clock, random, logger } = this.#options
    return new Jobs({
      log,
      store,
      clock,
      random,
      logger,
      scan: new LogScan(log, store, clock, onThreadEnd),
      shardOf: (partition) => this.shardOf(partition),
      shards: () => this.#shards,
      partitions: () => this.#partitions(),
      isConnected: (sourceId, destinationId) => this.#isConnected(sourceId, destinationId),
      partitionsOf: (sourceId) => this.#partitionsOf(sourceId),
      flush: () => this.#flush(),
      destination: (id) => this.#configuration.destinations.get(id),
      destinations: () => this.#configuration.destinations.values(),
      onDiscarded: (destinationId, count) => this.metrics.outcome(destinationId, 'discarded', count),
      onFiltered: (destinationId, count) => this.metrics.outcome(destinationId, 'filtered', count),
    })
  }

  #newBacklogBudget(): BacklogBudget {
    const { store, clock, logger, backlogMaxBytes, tellExpired } = this.#options
    return new BacklogBudget({
      store,
      clock,
      logger,
      shards: () => this.#shards,
      partitions: () => this.#partitions(),
      maxBytes: backlogMaxBytes,
      onExpired: (destinationId, count) => this.metrics.outcome(destinationId, 'expired', count),
      tellExpired,
    })
  }

  #newLogBudget(): LogBudget {
    const { log, clock, logger, logMaxBytes, isDiskShort } = this.#options
    return new LogBudget({
      log,
      clock,
      logger,
      maxBytes: logMaxBytes,
      isDiskShort,
      readUpTo: () => this.#readUpTo(),
      keepUnfinished: (partition, range) => this.shardOf(partition).keepUnfinished({ partition, ...range }),
    })
  }

  #newHousekeeping(): Housekeeping {
    const { log, store, clock, logger, logKeepMs, traces } = this.#options
    return new Housekeeping({
      log,
      store,
      clock,
      logger,
      logKeepMs,
      traces,
      needs: (writesIndex) => this.#needs({ writesIndex, dropsKept: true }),
      pruneSpans: (keptFrom) => this.#pruneSpans(keptFrom),
    })
  }

  async #start(): Promise<void> {
    const { log, store, logger, openShards } = this.#options
    await this.#giveUpEvent()
    for (const { destinationId, expired } of await store.backlog.byDestination()) {
      if (expired > 0) this.metrics.outcome(destinationId, 'expired', expired)
    }
    const positions = await store.outcomes.positions()
    const positionOf: PositionOf = (reader, partition, stream) =>
      positions.find((row) => row.reader === reader && row.partition === partition && row.stream === stream)?.position
    const spans = this.#spans.all
    await this.#removals.recordForgotten(spans, { configuration: this.#configuration, spans }, positionOf)
    await this.#writeSpans(this.#spans.reconcile({ configuration: this.#configuration, ends: this.#ends() }))
    this.#shards = await openShards({
      configuration: this.#configuration,
      recovery: this.#recovery,
      metrics: this.metrics,
      live: this.live,
      delivered: this.delivered,
      onReplayEnded: (jobId, destinationId) => this.jobs.ended(jobId, destinationId),
    })
    this.#shardOf = new Map(this.#shards.flatMap((shard) => shard.partitions.map((partition) => [partition, shard])))
    await this.jobs.start()
    await Promise.all(this.#shards.map((shard) => shard.resumed()))
    this.#stopListeningForDamage = log.onDamage(() => {
      this.#recordDamage().catch((error: Error) =>
        logger.error({ cause: error.message }, 'the expired events of a damaged segment cannot be recorded'),
      )
    })
    this.#housekeeping.start()
    this.#backlog.start()
    this.#logBudget.start()
    await this.#recordDamage()
  }

  /**
   * Applies a new configuration: it takes effect with the next event. When the promise resolves, a restart knows it,
   * too.
   */
  async configure(configuration: Configuration): Promise<void> {
    this.#configuration = configuration
    const change = { configuration, ends: this.#ends() }
    const spans = this.#spans.reconcile(change)
    const removed = Promise.all(this.#shards.map((shard) => shard.configure(change)))
    removed.catch(() => {})
    // The spans of removed resources leave the disk last: after a crash they show which removals are not recorded yet.
    const recorded = this.#recording.then(async () => {
      await this.#removals.record((await removed).flat())
      await this.#writeSpans(spans)
    })
    this.#recording = recorded.catch(() => {})
    await recorded
  }

  /** Stops reading, waits for calls in flight until `deadline`, and writes the last outcomes. A second call waits for the first. */
  stop(deadline: Promise<void>): Promise<void> {
    this.#stopped ??= this.#stop(deadline)
    return this.#stopped
  }

  async #stop(deadline: Promise<void>): Promise<void> {
    this.#recovery.stop()
    this.live.close()
    this.#stopListeningForDamage()
    this.#housekeeping.stop()
    const stopped = [this.#backlog.stop(), this.#logBudget.stop(), this.jobs.stop()]
    // At once: nothing is taken from the log from here on.
    await Promise.all([...stopped, ...this.#shards.map((shard) => shard.stop(deadline))])
    await this.events.close()
    await this.#recovery.end()
  }

  /** Why events are not taken or outcomes not written now; undefined if all works. */
  async trouble(): Promise<string | undefined> {
    const troubles = await Promise.all(this.#shards.map((shard) => shard.trouble()))
    return troubles.find((trouble) => trouble !== undefined) ?? this.#options.store.trouble()
  }

  /** The read-only threads that end repeatedly; undefined if all works. */
  readerTrouble(): string | undefined {
    return this.events.trouble() ?? this.jobs.readerTrouble()
  }

  /** The used share of the storage budget, from 80 %; undefined below. */
  backlogWarning(): string | undefined {
    return this.#backlog.warning
  }

  get shards(): readonly S[] {
    return this.#shards
  }

  shardOf(partition: number): S {
    const shard = this.#shardOf.get(partition)
    if (shard === undefined) throw new Error(`no shard owns partition ${partition}`)
    return shard
  }

  /** Waiting events and open dead letters of a destination, of a source, or of a source at a destination. */
  async waiting(scope: Scope): Promise<number> {
    const waits = this.#shards.map((shard) => shard.waiting(scope))
    const counts = await Promise.all([this.#options.store.deadLetters.countOpen(scope), ...waits])
    return counts.reduce((sum, count) => sum + count, 0)
  }

  /** The trace of each accepted event with this messageId, oldest first; empty if there is none. */
  async trace(messageId: string, asked: Omit<TraceAsked, 'messageId'> = {}): Promise<object[]> {
    const found = await Promise.all(this.#shards.map((shard) => shard.trace({ messageId, ...asked })))
    if (found.length === 1) return found[0]!
    return found.flat().sort((a, b) => acceptedAt(a).localeCompare(acceptedAt(b)))
  }

  /** Counts since the start, over all shards. */
  async counts(): Promise<DeliveryCounts> {
    const counts = await Promise.all(this.#shards.map((shard) => shard.counts()))
    return addedCounts(new Set([this.metrics, ...counts]))
  }

  /** What each destination does, by shard. @param destinationIds absent: all. */
  activity(destinationIds?: readonly string[]): Promise<ReadonlyMap<string, ShardActivity>[]> {
    return Promise.all(
      this.#shards.map((shard) => shard.activity(destinationIds) as Promise<Map<string, ShardActivity>>),
    )
  }

  /** An event that ran alone when the process ended gets its outcome before any other work. */
  async #giveUpEvent(): Promise<void> {
    const { log, store, logger } = this.#options
    const backed = new BackedLog(log, store.backlog)
    await backed.refresh()
    const parsed = new ParsedRecords((partition, offset, error) =>
      logger.error({ partition, offset, cause: error.message }, 'a stored record cannot be read'),
    )
    await this.#recovery.giveUpEvent(this.#configuration, { log: backed, store, parsed, metrics: this.metrics })
  }

  async #flush(): Promise<void> {
    await Promise.all(this.#shards.map((shard) => shard.flush()))
    await this.#options.store.flush()
  }

  #ends(): number[] {
    const { log } = this.#options
    return this.#partitions().map((partition) => log.end(partition))
  }

  /** All of the log: an embedded server has every shard. */
  #partitions(): number[] {
    return [...Array(this.#options.log.partitions).keys()]
  }

  async #writeSpans(change: SpanChange): Promise<void> {
    if (change.put.length > 0 || change.remove.length > 0) await this.#options.store.spans.write(change)
  }

  async #pruneSpans(keptFrom: readonly number[]): Promise<void> {
    const dropped = this.#spans.prune(keptFrom)
    if (dropped.length === 0) return
    await this.#options.store.spans.drop(dropped)
    await Promise.all(this.#shards.map((shard) => shard.pruneSpans(keptFrom)))
  }

  /** Needs of all shards, jobs and other readers, by partition. */
  async #needs(request: Parameters<Shard['needs']>[0]): Promise<PartitionNeeds[]> {
    const needs = (await Promise.all(this.#shards.map((shard) => shard.needs(request)))).flat()
    return needs
      .map((each) => {
        const { partition } = each
        const others = Math.min(this.jobs.neededFrom(partition), this.#options.otherReader.neededFrom(partition))
        return { ...each, neededFrom: Math.min(each.neededFrom, others) }
      })
      .sort((a, b) => a.partition - b.partition)
  }

  /** By partition, the offset that all readers of all records have passed, on disk. */
  async #readUpTo(): Promise<number[]> {
    const { otherReader } = this.#options
    const needs = await this.#needs({ writesIndex: true, dropsKept: false })
    return needs.map(({ partition, readUpTo }) => {
      // A reader that has stopped must not fill the disk.
      const others = otherReader.trouble() === undefined ? otherReader.neededFrom(partition) : Number.POSITIVE_INFINITY
      return Math.min(readUpTo, others)
    })
  }

  #partitionsOf(sourceId: string): number[] {
    const { log } = this.#options
    const source = this.#configuration.sources.get(sourceId)
    // The events of a source that was removed may lie in any.
    return source === undefined ? this.#partitions() : partitionsOf(source, log)
  }

  #isConnected(sourceId: string, destinationId: string): boolean {
    const connections = [...this.#configuration.connections.values()]
    return connections.some((each) => {
      return each.isEnabled && each.sourceId === sourceId && each.destinationId === destinationId
    })
  }

  #recordDamage(): Promise<void> {
    return recordDamage(this.#options, () => this.#configuration.destinations.keys())
  }
}

function acceptedAt(trace: object): string {
  return (trace as { acceptedAt: string }).acceptedAt
}
