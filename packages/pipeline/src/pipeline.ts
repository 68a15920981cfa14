import { MemoryBudget, type Scope } from '@millrace/delivery'
import type { StoredRecord } from '@millrace/log'
import { BackedLog } from './backlog/backed-log.ts'
import { BacklogBudget } from './backlog/backlog-budget.ts'
import { LogBudget } from './backlog/log-budget.ts'
import { LogTallies } from './backlog/log-tallies.ts'
import { DeliveredListeners } from './delivery/delivered-listeners.ts'
import type { DeliveryDeps } from './delivery/delivery-deps.ts'
import { DeliveryMetrics } from './delivery/delivery-metrics.ts'
import { DeliveryStates } from './delivery/delivery-state.ts'
import { DestinationDeliveries } from './delivery/destination-deliveries.ts'
import type { DestinationDelivery } from './delivery/destination-delivery.ts'
import { RunRecovery } from './delivery/run-recovery.ts'
import { DeadLetters } from './events/dead-letters.ts'
import { EventList } from './events/event-list.ts'
import { LiveView } from './events/live-view.ts'
import { Traces } from './events/traces.ts'
import type { Configuration } from './following/configuration.ts'
import { ConfiguredSources } from './following/configured-sources.ts'
import { type PositionOf, Removals } from './following/removals.ts'
import { Spans } from './following/spans.ts'
import { StartingPlaces } from './following/starting-places.ts'
import { Housekeeping } from './housekeeping.ts'
import { Jobs } from './jobs/jobs.ts'
import { LogScan } from './jobs/log-scan.ts'
import type { ScanPlace } from './jobs/scan-calls.ts'
import type { PipelineOptions } from './pipeline-options.ts'
import { BackfillTail } from './reading/backfill-tail.ts'
import { recordDamage } from './reading/damage.ts'
import { MESSAGE_INDEX, MessageIndex } from './reading/message-index.ts'
import { ParsedRecords } from './reading/parsed-records.ts'
import { Tail } from './reading/tail.ts'

/**
 * Connects the log to the destinations: reads accepted events once, passes each to the lanes of the connected
 * destinations, and keeps the destinations independent of each other.
 *
 * @see contracts/delivery.md §1; ARCHITECTURE.md, invariants 4 to 9
 */
export class Pipeline {
  readonly metrics = new DeliveryMetrics()
  /** Called for each delivery. */
  readonly delivered = new DeliveredListeners()
  readonly jobs: Jobs
  readonly events: EventList
  readonly live: LiveView
  readonly traces: Traces
  readonly states: DeliveryStates
  readonly deadLetters: DeadLetters
  readonly #index: MessageIndex
  readonly #options: PipelineOptions
  readonly #deps: DeliveryDeps
  readonly #tail: Tail
  readonly #backfillTail: BackfillTail
  readonly #spans: Spans
  readonly #deliveries: DestinationDeliveries
  readonly #recovery: RunRecovery
  readonly #removals: Removals
  readonly #housekeeping: Housekeeping
  readonly #backlog: BacklogBudget
  readonly #logBudget: LogBudget
  readonly #backed: BackedLog
  #configuration: Configuration
  #stopListening: () => void = () => {}
  #stopped: Promise<void> | undefined
  #stopListeningForDamage: () => void = () => {}
  /** Applies configurations one after the other. */
  #recording: Promise<void> = Promise.resolve()

  /** Continues where the last run stopped, and starts delivering. */
  static async start(options: PipelineOptions): Promise<Pipeline> {
    const recovery = await RunRecovery.begin(options)
    try {
      const pipeline = new Pipeline(options, await Spans.read(options.log, options.store.spans), recovery)
      await pipeline.#start()
      return pipeline
    } catch (error) {
      // The error explains a failed start: it must not count as an unclean end.
      await recovery.end()
      throw error
    }
  }

  private constructor(options: PipelineOptions, spans: Spans, recovery: RunRecovery) {
    const { log, store, clock, logger } = options
    const backed = new BackedLog(log, store.backlog)
    const tellOfThread = (error: Error) => logger.warn({ err: error }, 'a read-only thread ended; it restarts')
    this.#backed = backed
    this.#options = options
    this.#configuration = options.configuration
    this.#spans = spans
    this.#recovery = recovery
    this.#deliveries = new DestinationDeliveries(spans, log, store.deadLetters)
    const deliveries = this.#deliveries.byId
    this.#index = new MessageIndex(store.messages)
    this.live = new LiveView(clock)
    this.events = new EventList({
      log,
      store,
      clock,
      deliveries: () => deliveries.values(),
      spans: () => spans.all,
      onThreadEnd: tellOfThread,
    })
    const ends = Array.from({ length: log.partitions }, (_, partition) => log.end(partition))
    const onReadError = (error: Error) => logger.error({ cause: error.message }, 'the log cannot be read')
    const handOut = (partition: number, records: readonly StoredRecord[]) => this.#handOut(partition, records)
    this.#tail = new Tail(log, clock, ends, handOut, onReadError)
    const takeBackfill = (partition: number, records: readonly StoredRecord[]) => this.#takeBackfill(partition, records)
    this.#backfillTail = new BackfillTail(log, clock, ends, takeBackfill, onReadError)
    this.#removals = new Removals({
      log,
      store,
      clock,
      metrics: this.metrics,
      deliveries,
      waiting: (scope) => this.waiting(scope),
    })
    const index = this.#index
    this.traces = new Traces({ log: backed, store, index, deliveries, clock })
    this.deadLetters = new DeadLetters(log, store.deadLetters, deliveries)
    this.states = new DeliveryStates({
      log,
      store,
      clock,
      metrics: this.metrics,
      deliveries,
      destinationIds: () => this.#configuration.destinations.keys(),
    })
    this.#deps = this.#newDeps(new ConfiguredSources(() => this.#configuration, options.sourceClass))
    this.jobs = this.#newJobs(tellOfThread)
    this.#backlog = this.#newBacklogBudget()
    this.#logBudget = this.#newLogBudget()
    this.#housekeeping = this.#newHousekeeping()
  }

  #newDeps(sources: ConfiguredSources): DeliveryDeps {
    const { store, clock, random, logger, userAgent, userCode, newClient, findModule, memoryBytes } = this.#options
    return {
      log: this.#backed,
      store,
      clock,
      random,
      userAgent,
      newClient,
      userCode,
      logger,
      metrics: this.metrics,
      tallies: new LogTallies(this.#backed),
      memory: new MemoryBudget(memoryBytes),
      parsed: new ParsedRecords((partition, offset, error) =>
        logger.error({ partition, offset, cause: error.message }, 'a stored record cannot be read'),
      ),
      moduleOf: (type) => {
        const module = findModule(type)
        if (module === undefined) throw new Error(`Unknown destination type ${type}`)
        return module
      },
      sourceOf: (sourceId) => sources.get(sourceId),
      tailAt: (partition) => this.#tail.offset(partition),
      backfillEnd: this.#backfillTail.end,
      live: this.live,
      onDelivered: (event, destination, status, durationMs) =>
        this.delivered.tell(event, destination, status, durationMs),
    }
  }

  #newJobs(onThreadEnd: (error: Error) => void): Jobs {
    const { log, store, clock, random, logger } = this.#options
    const deliveries = this.#deliveries.byId
    return new Jobs({
      log,
      store,
      clock,
      random,
      logger,
      scan: new LogScan(log, store, clock, onThreadEnd),
      eventsAt: (partition, places) => this.#eventsAt(partition, places),
      isConnected: (sourceId, destinationId) => this.#isConnected(sourceId, destinationId),
      partitionsOf: (sourceId) => this.#partitionsOf(sourceId),
      flush: () => store.flush(),
      delivery: (id) => deliveries.get(id),
      deliveries: () => deliveries.values(),
      onDiscarded: (destinationId, count) => this.metrics.outcome(destinationId, 'discarded', count),
      onFiltered: (destinationId, count) => this.metrics.outcome(destinationId, 'filtered', count),
    })
  }

  #newBacklogBudget(): BacklogBudget {
    const { log, store, clock, logger, backlogMaxBytes, tellExpired } = this.#options
    return new BacklogBudget({
      log,
      store,
      clock,
      logger,
      tallies: this.#deps.tallies,
      deliveries: () => this.#deliveries.byId.values(),
      maxBytes: backlogMaxBytes,
      onExpired: (destinationId, count) => this.metrics.outcome(destinationId, 'expired', count),
      tellExpired,
    })
  }

  #newLogBudget(): LogBudget {
    const { log, store, clock, logger, logMaxBytes, isDiskShort } = this.#options
    return new LogBudget({
      log,
      backed: this.#backed,
      store,
      clock,
      logger,
      deliveries: () => this.#deliveries.byId.values(),
      maxBytes: logMaxBytes,
      isDiskShort,
      readUpTo: (partition) => this.#readUpTo(partition),
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
      backed: this.#backed,
      neededFrom: (partition) => this.#neededFrom(partition),
      writeIndex: () => this.#index.flush(),
      spans: this.#spans,
    })
  }

  async #start(): Promise<void> {
    const { log, store, logger } = this.#options
    await this.#recovery.giveUpEvent(this.#configuration, this.#deps)
    await this.#backed.refresh()
    for (const { destinationId, expired } of await store.backlog.byDestination()) {
      if (expired > 0) this.metrics.outcome(destinationId, 'expired', expired)
    }
    const positions = await store.outcomes.positions()
    const positionOf: PositionOf = (reader, partition, stream) =>
      positions.find((row) => row.reader === reader && row.partition === partition && row.stream === stream)?.position
    await this.#index.catchUp(log, (partition, stream) => positionOf(MESSAGE_INDEX, partition, stream)?.offset ?? 0)
    await this.#removals.recordForgotten(this.#spans.all, this.#configuration, positionOf)
    await this.#spans.write(this.#spans.reconcile(this.#configuration))
    const places = new StartingPlaces(log, this.#spans, this.#deps.tallies, positionOf)
    for (const destination of this.#configuration.destinations.values()) {
      const resumed = await store.outcomes.resume(destination.id)
      const from = { start: await places.of(destination.id), resumed }
      const delivery = this.#deliveries.open(destination, this.#configuration.revision, from, this.#deps)
      if (this.#recovery.isOneAtATime) delivery.beginAlone()
    }
    this.#deliveries.configure(this.#configuration)
    await this.jobs.start()
    void this.#recovery.runOneAtATime([...this.#deliveries.byId.values()])
    this.#stopListening = log.onCommit((partition, stream) => {
      if (stream !== 'backfill') return
      this.#backfillTail.moveOn(partition)
      for (const { feed } of this.#deliveries.byId.values()) feed.pull()
    })
    this.#stopListeningForDamage = log.onDamage(() => {
      this.#deps.tallies.forget()
      this.#recordDamage().catch((error: Error) =>
        logger.error({ cause: error.message }, 'the expired events of a damaged segment cannot be recorded'),
      )
    })
    this.#tail.start()
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
    const before = this.#configuration
    this.#configuration = configuration
    const recordings = this.#removals.carryOut(before, configuration)
    const change = this.#spans.reconcile(configuration)
    this.#deliveries.openNew(configuration, this.#deps)
    this.#deliveries.configure(configuration)
    // The spans of removed resources leave the disk last: after a crash they show which removals are not recorded yet.
    const recorded = this.#recording.then(async () => {
      for (const record of recordings) await record()
      await this.#spans.write(change)
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
    this.#stopListening()
    this.#stopListeningForDamage()
    this.#housekeeping.stop()
    this.#tail.stop()
    this.#backfillTail.stop()
    await this.#backlog.stop()
    await this.#logBudget.stop()
    const deliveries = [...this.#deliveries.byId.values()]
    for (const { feed } of deliveries) feed.close()
    await this.jobs.stop()
    await Promise.all(deliveries.map(({ lane }) => lane.stop(deadline)))
    await this.#index.flush()
    await this.events.close()
    await this.#recovery.end()
  }

  /**
   * Takes the events that the gateway has parsed and is about to store, if a destination needs them; drops events that
   * were not stored.
   */
  readonly parsed: Pick<ParsedRecords, 'keep' | 'drop'> = {
    keep: (record, body) => {
      const { sourceId, route } = record.header
      if (route !== 'backfill' && this.#deliveries.ofSource(sourceId).length > 0) this.#deps.parsed.keep(record, body)
    },
    drop: (record) => this.#deps.parsed.drop(record),
  }

  /** Why events are not taken or outcomes not written now; undefined if all works. */
  trouble(): string | undefined {
    return this.#options.store.trouble() ?? this.#tail.trouble() ?? this.#deliveries.fault()
  }

  /** The read-only threads that end repeatedly; undefined if all works. */
  readerTrouble(): string | undefined {
    return this.events.trouble() ?? this.jobs.readerTrouble()
  }

  /** The used share of the storage budget, from 80 %; undefined below. */
  backlogWarning(): string | undefined {
    return this.#backlog.warning
  }

  get deliveries(): ReadonlyMap<string, DestinationDelivery> {
    return this.#deliveries.byId
  }

  /** Waiting events and open dead letters of a destination, of a source, or of a source at a destination. */
  waiting(scope: Scope): Promise<number> {
    return this.#deliveries.waiting(scope)
  }

  /** The offset that all readers of all records have passed, on disk. */
  async #readUpTo(partition: number): Promise<number> {
    await this.#index.flush()
    const { otherReader } = this.#options
    // A reader that has stopped must not fill the disk.
    const others = otherReader.trouble() === undefined ? otherReader.neededFrom(partition) : Number.POSITIVE_INFINITY
    return Math.min(this.#index.position(partition), this.#tail.offset(partition), others)
  }

  #neededFrom(partition: number): number {
    const forDeliveries = this.#deliveries.neededFrom(partition)
    const forJobs = this.jobs.neededFrom(partition)
    const others = this.#options.otherReader.neededFrom(partition)
    return Math.min(this.#index.position(partition), this.#tail.offset(partition), forJobs, others, forDeliveries)
  }

  async #eventsAt(partition: number, places: readonly ScanPlace[]) {
    const { parsed } = this.#deps
    const records = await this.#backed.get(
      partition,
      places.map(({ offset }) => offset),
    )
    return places.map(({ index }, i) => {
      const record = records[i]
      const events = record === undefined ? [] : parsed.eventsOf(partition, record)
      const event = events[index]
      return event && { event, sizeBytes: Math.ceil(record!.body.length / events.length) }
    })
  }

  #partitionsOf(sourceId: string): number[] {
    const partition = this.#configuration.sources.get(sourceId)?.partition
    // The events of a source that was removed may lie in any.
    return partition === undefined ? [...Array(this.#options.log.partitions).keys()] : [partition]
  }

  #isConnected(sourceId: string, destinationId: string): boolean {
    const connections = [...this.#configuration.connections.values()]
    return connections.some((each) => {
      return each.isEnabled && each.sourceId === sourceId && each.destinationId === destinationId
    })
  }

  #handOut(partition: number, records: readonly StoredRecord[]): void {
    const offered = new Set<DestinationDelivery>()
    for (const record of records) {
      this.#index.add(partition, 0, record)
      if (this.live.isWatched) this.#showAccepted(partition, record)
      for (const delivery of this.#deliveries.ofSource(record.header.sourceId)) {
        delivery.feed.offer(partition, record)
        offered.add(delivery)
      }
      this.#deps.parsed.drop(record)
    }
    for (const { lane } of offered) lane.pump()
  }

  #showAccepted(partition: number, record: StoredRecord): void {
    this.live.accepted(record.header, () => this.#deps.parsed.eventsOf(partition, record))
  }

  #takeBackfill(partition: number, records: readonly StoredRecord[]): void {
    for (const record of records) {
      this.#index.add(partition, 1, record)
      if (this.live.isWatched) this.#showAccepted(partition, record)
    }
  }

  #recordDamage(): Promise<void> {
    return recordDamage(this.#options, () => this.#deliveries.byId.keys())
  }
}
