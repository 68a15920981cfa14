import { deadLetterOf, MemoryBudget, type RunBefore, type Scope, type UnderWay } from '@millrace/delivery'
import type { StoredRecord } from '@millrace/log'
import type { StoredEvent } from '@millrace/protocol'
import { BackedLog } from './backlog/backed-log.ts'
import { BacklogBudget } from './backlog/backlog-budget.ts'
import { LogBudget } from './backlog/log-budget.ts'
import { LogTallies } from './backlog/log-tallies.ts'
import { DeliveredListeners } from './delivery/delivered-listeners.ts'
import type { DeliveryDeps, StartingPoint } from './delivery/delivery-deps.ts'
import { DeliveryMetrics } from './delivery/delivery-metrics.ts'
import { DeliveryStates } from './delivery/delivery-state.ts'
import { DestinationDelivery } from './delivery/destination-delivery.ts'
import { ENDED_THE_PROCESS, notedEvent, OneAtATime } from './delivery/one-at-a-time.ts'
import { DeadLetters } from './events/dead-letters.ts'
import { EventList } from './events/event-list.ts'
import { LiveView } from './events/live-view.ts'
import { Traces } from './events/traces.ts'
import type { Configuration, ConfiguredDestination, ConfiguredSource } from './following/configuration.ts'
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
import { storedPayloads } from './reading/stored-payloads.ts'
import { Tail } from './reading/tail.ts'
import type { MetadataSource } from './stages/user-metadata.ts'

/**
 * From the log to the destinations: reads what was accepted once, hands it to the lane of each destination that a
 * connection names, and keeps apart what belongs to different destinations.
 *
 * @see contracts/delivery.md §1; ARCHITECTURE.md, invariants 4 to 9
 */
export class Pipeline {
  readonly metrics = new DeliveryMetrics()
  /** Told of each delivery. */
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
  readonly #deliveries = new Map<string, DestinationDelivery>()
  readonly #removals: Removals
  readonly #housekeeping: Housekeeping
  readonly #backlog: BacklogBudget
  readonly #logBudget: LogBudget
  readonly #backed: BackedLog
  #configuration: Configuration
  readonly #sources = new WeakMap<ConfiguredSource, MetadataSource>()
  /** Deliveries by source, made anew with each configuration. */
  #bySource = new Map<string, DestinationDelivery[]>()
  #stopListening: () => void = () => {}
  /** While unfinished events run so. */
  #oneAtATime: OneAtATime | undefined
  #isStopped = false
  #stopped: Promise<void> | undefined
  #stopListeningForDamage: () => void = () => {}
  /** Of configurations, one after the other. */
  #recording: Promise<void> = Promise.resolve()

  /** Goes on where the last run stopped; delivers from here on. */
  static async start(options: PipelineOptions): Promise<Pipeline> {
    const before = await beginRun(options)
    try {
      const pipeline = new Pipeline(options, await Spans.read(options.log, options.store.spans))
      await pipeline.#start(before)
      return pipeline
    } catch (error) {
      // A start that fails tells why; it is no end that nobody can explain.
      await endRun(options)
      throw error
    }
  }

  private constructor(options: PipelineOptions, spans: Spans) {
    const { log, store, clock, random, logger, userAgent, newClient } = options
    const backed = new BackedLog(log, store.backlog)
    const tellOfThread = (error: Error) => logger.warn({ err: error }, 'a read-only thread ended; it restarts')
    this.#backed = backed
    this.#options = options
    this.#configuration = options.configuration
    this.#spans = spans
    this.#index = new MessageIndex(store.messages)
    this.live = new LiveView(clock)
    this.events = new EventList({
      log,
      store,
      clock,
      deliveries: () => this.#deliveries.values(),
      spans: () => this.#spans.all,
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
      deliveries: this.#deliveries,
      waiting: (scope) => this.waiting(scope),
    })
    const index = this.#index
    const deliveries = this.#deliveries
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
    this.#deps = {
      log: backed,
      store,
      clock,
      random,
      userAgent,
      newClient,
      userCode: options.userCode,
      logger,
      metrics: this.metrics,
      tallies: new LogTallies(backed),
      memory: new MemoryBudget(options.memoryBytes),
      parsed: new ParsedRecords((partition, offset, error) =>
        logger.error({ partition, offset, cause: error.message }, 'a stored record cannot be read'),
      ),
      moduleOf: (type) => {
        const module = options.findModule(type)
        if (module === undefined) throw new Error(`Unknown destination type ${type}`)
        return module
      },
      sourceOf: (sourceId) => this.#sourceOf(sourceId),
      tailAt: (partition) => this.#tail.offset(partition),
      backfillEnd: this.#backfillTail.end,
      live: this.live,
      onDelivered: (event, destination, status, durationMs) =>
        this.delivered.tell(event, destination, status, durationMs),
    }
    this.jobs = new Jobs({
      log,
      store,
      clock,
      random,
      logger,
      scan: new LogScan(log, store, clock, tellOfThread),
      eventsAt: (partition, places) => this.#eventsAt(partition, places),
      isConnected: (sourceId, destinationId) => this.#isConnected(sourceId, destinationId),
      flush: () => store.flush(),
      delivery: (id) => this.#deliveries.get(id),
      deliveries: () => this.#deliveries.values(),
      onDiscarded: (destinationId, count) => this.metrics.outcome(destinationId, 'discarded', count),
      onFiltered: (destinationId, count) => this.metrics.outcome(destinationId, 'filtered', count),
    })
    this.#backlog = new BacklogBudget({
      log,
      store,
      clock,
      logger,
      tallies: this.#deps.tallies,
      deliveries: () => this.#deliveries.values(),
      maxBytes: options.backlogMaxBytes,
      onExpired: (destinationId, count) => this.metrics.outcome(destinationId, 'expired', count),
      tellExpired: options.tellExpired,
    })
    this.#logBudget = new LogBudget({
      log,
      backed,
      store,
      clock,
      logger,
      deliveries: () => this.#deliveries.values(),
      maxBytes: options.logMaxBytes,
      isDiskShort: options.isDiskShort,
      readUpTo: (partition) => this.#readUpTo(partition),
    })
    this.#housekeeping = new Housekeeping({
      log,
      store,
      clock,
      logger,
      logKeepMs: options.logKeepMs,
      traces: options.traces,
      backed,
      neededFrom: (partition) => this.#neededFrom(partition),
      writeIndex: () => this.#index.flush(),
      spans,
    })
  }

  async #start({ uncleanEnds, underWay }: RunBefore): Promise<void> {
    const { log, store, logger, clock } = this.#options
    const ends = Array.from({ length: log.partitions }, (_, partition) => log.end(partition))
    const most = this.#options.uncleanEnds
    if (most > 0 && uncleanEnds >= most) {
      logger.warn({ uncleanEnds }, 'the last runs ended uncleanly: unfinished events are delivered one at a time')
      this.#oneAtATime = new OneAtATime({ store, clock, ends, logger })
    }
    if (underWay !== undefined) await this.#giveUp(underWay)
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
      const delivery = this.#open(destination, { start: await places.of(destination.id), resumed })
      if (this.#oneAtATime !== undefined) delivery.beginAlone()
    }
    this.#applyConfiguration()
    await this.jobs.start()
    if (this.#oneAtATime !== undefined) void this.#runOneAtATime(this.#oneAtATime)
    this.#stopListening = log.onCommit((partition, stream) => {
      if (stream !== 'backfill') return
      this.#backfillTail.moveOn(partition)
      for (const { feed } of this.#deliveries.values()) feed.pull()
    })
    this.#stopListeningForDamage = log.onDamage(() => {
      this.#deps.tallies.forget()
      this.#recordDamage().catch((error: Error) => logger.error({ cause: error.message }, 'damage cannot be recorded'))
    })
    this.#tail.start()
    this.#housekeeping.start()
    this.#backlog.start()
    this.#logBudget.start()
    await this.#recordDamage()
  }

  /** The event at which the last run ended, though it ran alone: it is a dead letter before anything else happens. */
  async #giveUp(underWay: UnderWay): Promise<void> {
    const { store, clock, logger } = this.#options
    const { destinationId, partition, offset, index } = underWay
    const destination = this.#configuration.destinations.get(destinationId)
    const event = notedEvent(underWay)
    const readsBefore = await store.runs.countRead()
    const [payload] = readsBefore >= MAX_READS ? [UNREADABLE] : await storedPayloads([event], this.#deps, () => {})
    // Without a destination, or with its record lost, it has its outcome otherwise.
    if (destination === undefined || payload === undefined) {
      await store.runs.clear()
      return
    }
    event.payload = payload
    await store.noteUnderWay(underWay, event)
    const { revision } = destination
    const what = { destinationId, stage: 'internal', reason: ENDED_THE_PROCESS, deadAt: clock.now(), revision } as const
    store.outcomesOf(destinationId).deadLetter(event, deadLetterOf(event, what, undefined))
    await store.flush()
    this.metrics.outcome(destinationId, 'dead_lettered', 1, ENDED_THE_PROCESS)
    logger.error(
      { destinationId, partition, offset, index },
      'the process ended while this event ran alone: the event is dead-lettered',
    )
  }

  async #runOneAtATime(oneAtATime: OneAtATime): Promise<void> {
    const deliveries = [...this.#deliveries.values()]
    await oneAtATime.run(deliveries)
    this.#oneAtATime = undefined
    if (this.#isStopped) return
    this.#options.logger.info({}, 'all unfinished events have run: delivery is back to normal')
    for (const delivery of deliveries) delivery.endAlone()
  }

  /** Carries out a new configuration: it governs the next event; when it resolves, a restart will know it, too. */
  async configure(configuration: Configuration): Promise<void> {
    const before = this.#configuration
    this.#configuration = configuration
    const recordings = this.#removals.carryOut(before, configuration)
    const change = this.#spans.reconcile(configuration)
    for (const destination of configuration.destinations.values()) {
      if (!this.#deliveries.has(destination.id)) this.#open(destination, this.#fromHere())
    }
    this.#applyConfiguration()
    // The spans of what was removed leave the disk last: after a crash in between they tell that it is to be recorded.
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
    this.#isStopped = true
    this.#oneAtATime?.stop()
    this.live.close()
    this.#stopListening()
    this.#stopListeningForDamage()
    this.#housekeeping.stop()
    this.#tail.stop()
    this.#backfillTail.stop()
    await this.#backlog.stop()
    await this.#logBudget.stop()
    for (const { feed } of this.#deliveries.values()) feed.close()
    await this.jobs.stop()
    await Promise.all([...this.#deliveries.values()].map(({ lane }) => lane.stop(deadline)))
    await this.#index.flush()
    await this.events.close()
    await endRun(this.#options)
  }

  /** Takes what the gateway has parsed and is about to store, if a destination will want it; drops what could not be stored. */
  readonly parsed: Pick<ParsedRecords, 'keep' | 'drop'> = {
    keep: (record, body) => {
      const { sourceId, route } = record.header
      if (route !== 'backfill' && this.#bySource.has(sourceId)) this.#deps.parsed.keep(record, body)
    },
    drop: (record) => this.#deps.parsed.drop(record),
  }

  /** Why events are not taken up or outcomes not written at the moment; undefined when all is well. */
  trouble(): string | undefined {
    return this.#options.store.trouble() ?? this.#tail.trouble() ?? this.#fault()
  }

  /** Threads that only read and end again and again; undefined when all is well. */
  readerTrouble(): string | undefined {
    return this.events.trouble() ?? this.jobs.readerTrouble()
  }

  #fault(): string | undefined {
    for (const { lane, destination } of this.#deliveries.values()) {
      if (lane.fault !== undefined) return `delivery to ${destination.id} failed: ${lane.fault}`
    }
    return undefined
  }

  /** How much of the storage budget is used, from 80 % on; undefined below. */
  backlogWarning(): string | undefined {
    return this.#backlog.warning
  }

  get deliveries(): ReadonlyMap<string, DestinationDelivery> {
    return this.#deliveries
  }

  /** Waiting events and open dead letters of a destination, of a source, or of a source at a destination. */
  async waiting(scope: Scope): Promise<number> {
    const { destinationId, sourceId } = scope
    const deliveries = [...this.#deliveries.values()].filter(
      ({ destination }) => destinationId === undefined || destinationId === destination.id,
    )
    const waits = deliveries.map((delivery) => delivery.waiting(sourceId).then(({ events }) => events))
    const counts = await Promise.all([this.#options.store.deadLetters.countOpen(scope), ...waits])
    return counts.reduce((sum, count) => sum + count, 0)
  }

  /** How far everybody has come who reads all records, with that on disk. */
  async #readUpTo(partition: number): Promise<number> {
    await this.#index.flush()
    const { otherReader } = this.#options
    // One that does not go on must not fill the disk.
    const others = otherReader.trouble() === undefined ? otherReader.neededFrom(partition) : Number.POSITIVE_INFINITY
    return Math.min(this.#index.position(partition), this.#tail.offset(partition), others)
  }

  #neededFrom(partition: number): number {
    const needed = [...this.#deliveries.values()].map((delivery) => delivery.neededFrom(partition))
    const forJobs = this.jobs.neededFrom(partition)
    const others = this.#options.otherReader.neededFrom(partition)
    return Math.min(this.#index.position(partition), this.#tail.offset(partition), forJobs, others, ...needed)
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
      for (const delivery of this.#bySource.get(record.header.sourceId) ?? NONE) {
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

  /** A source with its class, the same object as long as nothing of it changes. */
  #sourceOf(id: string): MetadataSource | undefined {
    const source = this.#configuration.sources.get(id)
    if (source === undefined) return undefined
    let known = this.#sources.get(source)
    if (known === undefined) {
      known = { id, name: source.name, type: source.type, class: this.#options.sourceClass(source.type) }
      this.#sources.set(source, known)
    }
    return known
  }

  #open(destination: ConfiguredDestination, from: StartingPoint): DestinationDelivery {
    const activity = this.#spans.activityOf(destination.id)
    const { revision } = this.#configuration
    const delivery = new DestinationDelivery(destination, revision, activity, from, this.#deps)
    this.#deliveries.set(destination.id, delivery)
    return delivery
  }

  #fromHere(): StartingPoint {
    const { log } = this.#options
    return {
      start: (partition) => ({ offset: log.end(partition), index: 0 }),
      resumed: { waiting: [], done: [] },
    }
  }

  #applyConfiguration(): void {
    const { destinations, connections, revision } = this.#configuration
    const byDestination = Map.groupBy(connections.values(), ({ destinationId }) => destinationId)
    this.#bySource = new Map()
    for (const [id, delivery] of this.#deliveries) {
      const destination = destinations.get(id)
      if (destination === undefined) continue
      const activity = this.#spans.activityOf(id)
      const disabled = (byDestination.get(id) ?? []).filter(({ isEnabled }) => !isEnabled)
      delivery.configure(destination, revision, activity, new Set(disabled.map(({ sourceId }) => sourceId)))
      for (const sourceId of activity.sourceIds) {
        const others = this.#bySource.get(sourceId)
        if (others === undefined) this.#bySource.set(sourceId, [delivery])
        else others.push(delivery)
      }
    }
  }

  #recordDamage(): Promise<void> {
    return recordDamage(this.#options, () => this.#deliveries.keys())
  }
}

/** A disk that takes nothing at the moment is no reason not to start. */
async function beginRun({ store, clock, logger }: PipelineOptions): Promise<RunBefore> {
  try {
    return await store.runs.begin(clock.now())
  } catch (error) {
    logger.error({ cause: (error as Error).message }, 'the ends of the last runs cannot be read')
    return { uncleanEnds: 0, underWay: undefined }
  }
}

/** What is not written counts as an unclean end: at worst, events run one at a time for a while. */
async function endRun({ store, logger }: PipelineOptions): Promise<void> {
  await store.runs.end().catch((error: Error) => {
    logger.warn({ cause: error.message }, 'the end of this run could not be written')
  })
}

const NONE: readonly DestinationDelivery[] = []
/** A start that ends while it reads the payload tries it again so often. */
const MAX_READS = 3
/** Shown of an event whose payload ends the process when it is read. */
const UNREADABLE: StoredEvent = { type: 'track', event: 'unreadable', messageId: '', receivedAt: '', request_ip: '' }
