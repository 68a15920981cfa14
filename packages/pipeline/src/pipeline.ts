import {
  type BacklogRow,
  type DeadLetterFilter,
  type DeadLetterGroup,
  type DeadLetterRow,
  type DeliveryStore,
  type LaneEvent,
  MemoryBudget,
  type Scope,
  type Span,
} from '@millrace/delivery'
import type { DestinationModule } from '@millrace/destinations'
import { type EventLog, STREAMS, type StoredRecord } from '@millrace/log'
import { type EventRecord, eventName, type JsonObject } from '@millrace/protocol'
import type { Clock } from '@millrace/std'
import { Activity } from './activity.ts'
import { BackedLog } from './backlog/backed-log.ts'
import { BacklogBudget } from './backlog/backlog-budget.ts'
import { LogBudget } from './backlog/log-budget.ts'
import { LogTallies } from './backlog/log-tallies.ts'
import type { Configuration, ConfiguredConnection, ConfiguredDestination, ConfiguredSource } from './configuration.ts'
import { deadLetterGroups } from './dead-letter-groups.ts'
import { DeliveryMetrics } from './delivery-metrics.ts'
import { type DeliveryState, deliveryState } from './delivery-state.ts'
import {
  DestinationDelivery,
  type Logger,
  type NewClient,
  type StartingPoint,
  type Surroundings,
} from './destination-delivery.ts'
import { EventList } from './events/event-list.ts'
import { LiveView } from './events/live-view.ts'
import { Housekeeping } from './housekeeping.ts'
import { Jobs } from './jobs/jobs.ts'
import { LogScan } from './jobs/log-scan.ts'
import type { ScanPlace } from './jobs/scan-calls.ts'
import type { LiveUserCodeAccess } from './live-user-code.ts'
import { MESSAGE_INDEX, MessageIndex } from './message-index.ts'
import { ParsedRecords } from './parsed-records.ts'
import { changedSpans, type SpanChange, spanChange } from './spans.ts'
import { Tail } from './tail.ts'
import { traceEvents } from './traces.ts'
import type { MetadataSource } from './user-metadata.ts'

export interface PipelineOptions {
  readonly log: EventLog
  readonly store: DeliveryStore
  readonly configuration: Configuration
  readonly findModule: (type: string) => DestinationModule | undefined
  /** The class of a source's type: `cordova`, `web` or `cloud`. */
  readonly sourceClass: (type: string) => string
  readonly newClient: NewClient
  readonly userCode: LiveUserCodeAccess
  readonly clock: Clock
  /** 0 ≤ random < 1. */
  readonly random: () => number
  readonly userAgent: string
  readonly memoryBytes: number
  readonly traces: { readonly keepMs: number; readonly maxBytes: number }
  readonly logKeepMs: number
  /** Another reader of the log, which keeps what it has not passed; the schema catalog fits. */
  readonly otherReader: {
    neededFrom(partition: number): number
    /** Why it does not go on. */
    trouble(): string | undefined
  }
  /** What waits, with open dead letters, may take on disk; 0: no bound. */
  readonly backlogMaxBytes: number
  /** What the log may take on disk; 0: no bound. */
  readonly logMaxBytes: number
  /** Free space is under twice the floor; left out: never. */
  readonly isDiskShort?: () => boolean
  /** For the audit log: events of a destination were given up for the storage budget. */
  readonly tellExpired: (destinationId: string, count: number) => void
  readonly logger: Logger
}

/** A delivery as it is shown to people who watch. */
export interface Delivery {
  readonly type: string
  readonly name: string
  readonly destinationName: string
  readonly destinationId: string
  readonly status: number
  readonly durationMs: number
}

/**
 * From the log to the destinations: reads what was accepted once, hands it to the lane of each destination that a
 * connection names, and keeps apart what belongs to different destinations.
 *
 * @see contracts/delivery.md §1; architecture.md, invariants 4 to 9
 */
export class Pipeline {
  readonly metrics = new DeliveryMetrics()
  readonly index: MessageIndex
  readonly jobs: Jobs
  readonly events: EventList
  readonly live: LiveView
  readonly #options: PipelineOptions
  readonly #surroundings: Surroundings
  readonly #tail: Tail
  readonly #deliveries = new Map<string, DestinationDelivery>()
  readonly #importEnds: number[]
  readonly #deliveredListeners = new Set<(delivery: Delivery) => void>()
  readonly #housekeeping: Housekeeping
  readonly #backlog: BacklogBudget
  readonly #logBudget: LogBudget
  readonly #backed: BackedLog
  #configuration: Configuration
  readonly #sources = new WeakMap<ConfiguredSource, MetadataSource>()
  #spans: readonly Span[]
  /** Deliveries by source, made anew with each configuration. */
  #bySource = new Map<string, DestinationDelivery[]>()
  #stopListening: () => void = () => {}
  #stopListeningForDamage: () => void = () => {}
  /** Of configurations, one after the other. */
  #recording: Promise<void> = Promise.resolve()
  /** How far imported records are in the message index, by partition. */
  readonly #importsIndexed: number[]
  readonly #isIndexingImports: boolean[] = []

  /** Goes on where the last run stopped; delivers from here on. */
  static async start(options: PipelineOptions): Promise<Pipeline> {
    const spans = await options.store.call('spans', undefined)
    const pipeline = new Pipeline(options, spans)
    await pipeline.#start()
    return pipeline
  }

  private constructor(options: PipelineOptions, spans: readonly Span[]) {
    const { log, store, clock, random, logger, userAgent, newClient } = options
    const backed = new BackedLog(log, store)
    this.#backed = backed
    this.#options = options
    this.#configuration = options.configuration
    this.#spans = spans
    this.index = new MessageIndex(store)
    this.live = new LiveView(clock)
    this.events = new EventList({
      log,
      store,
      clock,
      deliveries: () => this.#deliveries.values(),
      spans: () => this.#spans,
    })
    const ends = Array.from({ length: log.partitions }, (_, partition) => log.end(partition))
    this.#importEnds = [...ends]
    this.#importsIndexed = [...ends]
    this.#tail = new Tail(
      log,
      clock,
      ends,
      (partition, records) => this.#handOut(partition, records),
      (error) => logger.error({ cause: error.message }, 'the log cannot be read'),
    )
    this.#surroundings = {
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
      importEnd: (partition) => this.#importEnds[partition]!,
      live: this.live,
      onDelivered: (event, destination, status, durationMs) => this.#tell(event, destination, status, durationMs),
    }
    this.jobs = new Jobs({
      log,
      store,
      clock,
      random,
      logger,
      scan: new LogScan(log, store.file),
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
      tallies: this.#surroundings.tallies,
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
      neededFrom: (partition) => this.neededFrom(partition),
      writeIndex: () => this.index.flush(),
    })
  }

  async #start(): Promise<void> {
    const { log, store, logger } = this.#options
    await this.#backed.refresh()
    for (const { destinationId, expired } of await store.call('backlog', undefined)) {
      if (expired > 0) this.metrics.outcome(destinationId, 'expired', expired)
    }
    const positions = await store.call('positions', undefined)
    const positionOf = (reader: string, partition: number, stream: number) =>
      positions.find((row) => row.reader === reader && row.partition === partition && row.stream === stream)?.position
    await this.index.catchUp(log, (partition, stream) => positionOf(MESSAGE_INDEX, partition, stream)?.offset ?? 0)
    await this.#recordForgottenRemovals(positionOf)
    await this.#writeSpans(this.#reconcileSpans())
    for (const destination of this.#configuration.destinations.values()) {
      const resumed = await store.call('resume', destination.id)
      const start: StartingPoint['start'] = (partition, stream) =>
        positionOf(destination.id, partition, stream) ?? this.#firstConnected(destination.id, partition)
      this.#open(destination, { start, resumed })
    }
    this.#applyConfiguration()
    await this.jobs.start()
    this.#stopListening = log.onCommit((partition, stream) => {
      if (stream === 'import') this.#noteImport(partition)
    })
    this.#stopListeningForDamage = log.onDamage(() => {
      this.#surroundings.tallies.forget()
      this.#recordDamage().catch((error: Error) => logger.error({ cause: error.message }, 'damage cannot be recorded'))
    })
    this.#tail.start()
    this.#housekeeping.start()
    this.#backlog.start()
    this.#logBudget.start()
    await this.#recordDamage()
  }

  /** Carries out a new configuration: it governs the next event; when it resolves, a restart will know it, too. */
  async configure(configuration: Configuration): Promise<void> {
    const before = this.#configuration
    this.#configuration = configuration
    const removed = this.#removals(before, configuration)
    const change = this.#reconcileSpans()
    for (const destination of configuration.destinations.values()) {
      if (!this.#deliveries.has(destination.id)) this.#open(destination, this.#fromHere())
    }
    this.#applyConfiguration()
    // The spans of what was removed leave the disk last: after a crash in between they tell that it is to be recorded.
    const recorded = this.#recording.then(async () => {
      for (const removal of removed) await removal()
      await this.#writeSpans(change)
    })
    this.#recording = recorded.catch(() => {})
    await recorded
  }

  /** Stops reading, waits for calls in flight until `deadline`, and writes the last outcomes. */
  async stop(deadline: Promise<void>): Promise<void> {
    this.live.close()
    this.#stopListening()
    this.#stopListeningForDamage()
    this.#housekeeping.stop()
    this.#tail.stop()
    await this.#backlog.stop()
    await this.#logBudget.stop()
    for (const { feed } of this.#deliveries.values()) feed.close()
    await this.jobs.stop()
    await Promise.all([...this.#deliveries.values()].map(({ lane }) => lane.stop(deadline)))
    await this.index.flush()
    await this.events.close()
  }

  /** Takes what the gateway has parsed and is about to store, if a destination will want it. */
  keep(record: EventRecord, body: JsonObject): void {
    const { sourceId, route } = record.header
    if (route !== 'import' && this.#bySource.has(sourceId)) this.#surroundings.parsed.keep(record, body)
  }

  /** It could not be stored, or has had its turn. */
  drop(record: EventRecord): void {
    this.#surroundings.parsed.drop(record)
  }

  /** Why events are not taken up or outcomes not written at the moment; undefined when all is well. */
  trouble(): string | undefined {
    return this.#options.store.trouble() ?? this.#tail.trouble()
  }

  /** How much of the storage budget is used, from 80 % on; undefined below. */
  backlogWarning(): string | undefined {
    return this.#backlog.warning
  }

  delivery(destinationId: string): DestinationDelivery | undefined {
    return this.#deliveries.get(destinationId)
  }

  deliveries(): Iterable<DestinationDelivery> {
    return this.#deliveries.values()
  }

  /** Waiting events and open dead letters of a destination, of a source, or of a source at a destination. */
  async waiting(scope: Scope): Promise<number> {
    const { destinationId, sourceId } = scope
    const deliveries = [...this.#deliveries.values()].filter(
      ({ destination }) => destinationId === undefined || destinationId === destination.id,
    )
    const waits = deliveries.map((delivery) => delivery.waiting(sourceId).then(({ events }) => events))
    const counts = await Promise.all([this.#options.store.call('openDeadLetters', scope), ...waits])
    return counts.reduce((sum, count) => sum + count, 0)
  }

  /** @see contracts/delivery.md §8 [D623] */
  trace(messageId: string, sourceId: string | undefined, render?: string): Promise<object[]> {
    const { store, clock } = this.#options
    const sources = { log: this.#backed, store, index: this.index, deliveries: () => this.#deliveries.values(), clock }
    return traceEvents(sources, { messageId, sourceId, render })
  }

  /** Counts and state of a destination; undefined if there is none with this id. */
  async state(destinationId: string) {
    const delivery = this.#deliveries.get(destinationId)
    return delivery && this.#stateOf(delivery, await this.#options.store.call('backlog', undefined))
  }

  /** In order of creation. */
  destinationIds(): string[] {
    return [...this.#configuration.destinations.keys()].filter((id) => this.#deliveries.has(id))
  }

  /** Counts and states of destinations, by default of all; of those that are there. */
  async states(destinationIds: readonly string[] = [...this.#deliveries.keys()]) {
    const states: DeliveryState[] = []
    const backlog = await this.#options.store.call('backlog', undefined)
    for (const id of destinationIds) {
      const delivery = this.#deliveries.get(id)
      if (delivery !== undefined) states.push(await this.#stateOf(delivery, backlog))
    }
    return states
  }

  #stateOf(delivery: DestinationDelivery, backlog: readonly BacklogRow[]) {
    const { log, store, clock } = this.#options
    return deliveryState(delivery, {
      log,
      open: backlog.find(({ destinationId }) => destinationId === delivery.destination.id) ?? NO_BACKLOG,
      deliveredSince: (id, hour) => store.call('deliveredSince', { destinationId: id, hour }),
      expired: (id) => this.metrics.outcomes.get(id)?.get('expired') ?? 0,
      payloadOf: (event) => delivery.payloadOf(event),
      now: clock.now(),
    })
  }

  /** Largest first; at most `MOST_GROUPS`. */
  deadLetterGroups(filter: DeadLetterFilter): Promise<DeadLetterGroup[]> {
    return deadLetterGroups(this.#options.store, filter)
  }

  deadLetters(filter: DeadLetterFilter, limit: number, before: number | null) {
    return this.#options.store.call('deadLetters', { filter, limit, before })
  }

  deadLetter(id: string): Promise<DeadLetterRow | undefined> {
    return this.#options.store.call('deadLetter', id)
  }

  get log(): EventLog {
    return this.#options.log
  }

  /** Calls back after each delivery. @returns a function that stops it. */
  onDelivered(listener: (delivery: Delivery) => void): () => void {
    this.#deliveredListeners.add(listener)
    return () => this.#deliveredListeners.delete(listener)
  }

  /** How far everybody has come who reads all records, with that on disk. */
  async #readUpTo(partition: number): Promise<number> {
    await this.index.flush()
    const { otherReader } = this.#options
    // One that does not go on must not fill the disk.
    const others = otherReader.trouble() === undefined ? otherReader.neededFrom(partition) : Number.POSITIVE_INFINITY
    return Math.min(this.index.position(partition), this.#tail.offset(partition), others)
  }

  neededFrom(partition: number): number {
    const needed = [...this.#deliveries.values()].map((delivery) => delivery.neededFrom(partition))
    const forJobs = this.jobs.neededFrom(partition)
    const others = this.#options.otherReader.neededFrom(partition)
    return Math.min(this.index.position(partition), this.#tail.offset(partition), forJobs, others, ...needed)
  }

  async #eventsAt(partition: number, places: readonly ScanPlace[]) {
    const { parsed } = this.#surroundings
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
      this.index.add(partition, 0, record)
      if (this.live.isWatched) this.#showAccepted(partition, record)
      for (const delivery of this.#bySource.get(record.header.sourceId) ?? NONE) {
        delivery.feed.offer(partition, record)
        offered.add(delivery)
      }
      this.drop(record)
    }
    for (const { lane } of offered) lane.pump()
  }

  #showAccepted(partition: number, record: StoredRecord): void {
    this.live.accepted(record.header, () => this.#surroundings.parsed.eventsOf(partition, record))
  }

  #noteImport(partition: number): void {
    const { log } = this.#options
    this.#importEnds[partition] = log.end(partition)
    void this.#indexImports(partition)
    for (const { feed } of this.#deliveries.values()) feed.pull()
  }

  async #indexImports(partition: number): Promise<void> {
    if (this.#isIndexingImports[partition]) return
    this.#isIndexingImports[partition] = true
    const { log, logger } = this.#options
    try {
      while (this.#importsIndexed[partition]! < this.#importEnds[partition]!) {
        const { records, next } = await log.read(partition, 'import', this.#importsIndexed[partition]!, 1024 * 1024)
        for (const record of records) {
          this.index.add(partition, 1, record)
          if (this.live.isWatched) this.#showAccepted(partition, record)
        }
        this.#importsIndexed[partition] = next
      }
    } catch (error) {
      logger.error({ cause: (error as Error).message }, 'the log cannot be read')
    }
    this.#isIndexingImports[partition] = false
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

  #open(destination: ConfiguredDestination, from: StartingPoint): void {
    const activity = this.#activityOf(destination.id)
    this.#deliveries.set(
      destination.id,
      new DestinationDelivery(destination, this.#configuration.revision, activity, from, this.#surroundings),
    )
  }

  #fromHere(): StartingPoint {
    const { log } = this.#options
    return {
      start: (partition) => ({ offset: log.end(partition), index: 0 }),
      resumed: { waiting: [], done: [] },
    }
  }

  /** A destination that never got as far as writing a position begins with its first connection. */
  #firstConnected(destinationId: string, partition: number): { offset: number; index: number } {
    const spans = this.#spans.filter(
      (span) => span.kind === 'connection' && span.destinationId === destinationId && span.partition === partition,
    )
    const offset = Math.min(this.#options.log.end(partition), ...spans.map(({ fromOffset }) => fromOffset))
    return { offset, index: 0 }
  }

  #activityOf(destinationId: string): Activity {
    return new Activity(this.#spans.filter((span) => span.destinationId === destinationId))
  }

  #applyConfiguration(): void {
    const { destinations, connections, revision } = this.#configuration
    const byDestination = Map.groupBy(connections.values(), ({ destinationId }) => destinationId)
    this.#bySource = new Map()
    for (const [id, delivery] of this.#deliveries) {
      const destination = destinations.get(id)
      if (destination === undefined) continue
      const activity = this.#activityOf(id)
      const disabled = (byDestination.get(id) ?? []).filter(({ isEnabled }) => !isEnabled)
      delivery.configure(destination, revision, activity, new Set(disabled.map(({ sourceId }) => sourceId)))
      for (const sourceId of activity.sourceIds) {
        const others = this.#bySource.get(sourceId)
        if (others === undefined) this.#bySource.set(sourceId, [delivery])
        else others.push(delivery)
      }
    }
  }

  /** In memory only: the change is to be written. */
  #reconcileSpans(): SpanChange {
    const { log } = this.#options
    const ends = Array.from({ length: log.partitions }, (_, partition) => log.end(partition))
    const change = spanChange(this.#spans, this.#configuration, ends)
    this.#spans = changedSpans(this.#spans, change)
    return change
  }

  async #writeSpans(change: SpanChange): Promise<void> {
    if (change.put.length > 0 || change.remove.length > 0) await this.#options.store.call('writeSpans', change)
  }

  /** What a new configuration has no more: its waiting events end as discarded. Takes effect at once, is recorded later. */
  #removals(before: Configuration, after: Configuration): (() => Promise<void>)[] {
    const removals: (() => Promise<void>)[] = []
    for (const id of before.destinations.keys()) {
      if (!after.destinations.has(id)) removals.push(this.#removeDestination(id))
    }
    for (const connection of before.connections.values()) {
      if (after.connections.has(connection.id) || !after.destinations.has(connection.destinationId)) continue
      const reason = after.sources.has(connection.sourceId) ? 'connection was removed' : 'source was removed'
      removals.push(this.#removeConnection(connection, reason))
    }
    return removals
  }

  #removeDestination(id: string): () => Promise<void> {
    const delivery = this.#deliveries.get(id)
    if (delivery === undefined) return () => Promise.resolve()
    const waiting = this.waiting({ destinationId: id })
    const ranges = this.#waitingRanges(delivery)
    this.#deliveries.delete(id)
    const stopped = delivery.remove()
    return async () => {
      await this.#recordRemoval({ destinationId: id }, ranges, 'destination was removed', await waiting)
      await stopped
    }
  }

  #removeConnection({ sourceId, destinationId }: ConfiguredConnection, reason: string): () => Promise<void> {
    const delivery = this.#deliveries.get(destinationId)
    if (delivery === undefined) return () => Promise.resolve()
    const waiting = this.waiting({ destinationId, sourceId })
    const ranges = this.#waitingRanges(delivery)
    delivery.lane.discard(sourceId)
    return async () => this.#recordRemoval({ destinationId, sourceId }, ranges, reason, await waiting)
  }

  /** A removal that a crash kept from being recorded shows in spans of connections that are gone. */
  async #recordForgottenRemovals(
    positionOf: (reader: string, partition: number, stream: number) => { offset: number } | undefined,
  ): Promise<void> {
    const { log, store } = this.#options
    const { sources, destinations, connections } = this.#configuration
    for (const span of this.#spans) {
      const { destinationId, sourceId, partition, fromOffset } = span
      if (span.kind !== 'connection' || connections.has(span.resource)) continue
      const sourceReason = sources.has(sourceId) ? 'connection was removed' : 'source was removed'
      const reason = destinations.has(destinationId) ? sourceReason : 'destination was removed'
      const scope = { destinationId, sourceId }
      const toOffset = span.toOffset ?? log.end(partition)
      let count = await store.call('openDeadLetters', scope)
      let oldest = toOffset
      const { waiting } = await store.call('resume', destinationId)
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
      await this.#recordRemoval(scope, [{ partition, fromOffset: oldest, toOffset }], reason, count)
    }
  }

  #waitingRanges(delivery: DestinationDelivery): { partition: number; fromOffset: number; toOffset: number }[] {
    const { log } = this.#options
    return Array.from({ length: log.partitions }, (_, partition) => ({
      partition,
      fromOffset: delivery.neededFrom(partition),
      toOffset: log.end(partition),
    }))
  }

  async #recordRemoval(
    scope: { destinationId: string; sourceId?: string },
    ranges: readonly { partition: number; fromOffset: number; toOffset: number }[],
    reason: string,
    count: number,
  ): Promise<void> {
    const { store, clock } = this.#options
    const at = clock.now()
    const { destinationId, sourceId = null } = scope
    // Also where nothing is counted there may be dead letters on their way into a lane.
    const rows = (count === 0 ? [] : ranges).map((range) => ({
      ...range,
      destinationId,
      sourceId,
      outcome: 'discarded' as const,
      reason,
      count,
      at,
    }))
    await store.call('discard', { scope, ranges: rows, reason, at })
    if (count > 0) this.metrics.outcome(destinationId, 'discarded', count)
  }

  /** Events that a destination had still to take up from a damaged segment end as expired. */
  async #recordDamage(): Promise<void> {
    const { log, store, clock } = this.#options
    for (let partition = 0; partition < log.partitions; partition++) {
      for (const { from, to } of log.damaged(partition)) {
        for (const delivery of this.#deliveries.values()) {
          await store.call('expireRange', {
            destinationId: delivery.destination.id,
            sourceId: null,
            partition,
            fromOffset: from,
            toOffset: to,
            outcome: 'expired',
            reason: 'segment was damaged',
            count: 0,
            at: clock.now(),
          })
        }
      }
    }
  }

  #tell(event: LaneEvent, destination: ConfiguredDestination, status: number, durationMs: number): void {
    if (this.#deliveredListeners.size === 0) return
    const { payload } = event
    const delivery = {
      type: payload?.type ?? '',
      name: payload === undefined ? '' : eventName(payload),
      destinationName: destination.name,
      destinationId: destination.id,
      status,
      durationMs,
    }
    for (const listener of this.#deliveredListeners) listener(delivery)
  }
}

const NO_BACKLOG = { letters: 0, letterBytes: 0 }
const NONE: readonly DestinationDelivery[] = []
