import type { DeadLetterRow, JourneyWrite, Scope } from '@millrace/delivery'
import type { OffsetRange, StoredRecord } from '@millrace/log'
import { BackedLog } from './backlog/backed-log.ts'
import { BacklogExpiry } from './backlog/backlog-expiry.ts'
import { waitingBytes, waitingShares } from './backlog/backlog-figures.ts'
import { LogTallies } from './backlog/log-tallies.ts'
import { keepReplayed, keepUnfinished } from './backlog/unfinished-records.ts'
import { type DeliveryDeps, moduleOf, type StartingPoint } from './delivery/delivery-deps.ts'
import { DestinationDeliveries } from './delivery/destination-deliveries.ts'
import type { DestinationDelivery } from './delivery/destination-delivery.ts'
import { shardState } from './delivery/shard-state.ts'
import { outcomesNow } from './events/outcomes-now.ts'
import type { FoundEvent } from './events/search-calls.ts'
import { type TraceAsked, traceEvents } from './events/traces.ts'
import type { Configuration, ConfigurationChange, ConfiguredDestination } from './following/configuration.ts'
import { ConfiguredSources } from './following/configured-sources.ts'
import { Removals, type Removed } from './following/removals.ts'
import { Spans } from './following/spans.ts'
import { type PositionOf, StartingPlaces } from './following/starting-places.ts'
import type { PartitionNeeds, ReplayedTake, Shard } from './host/shard.ts'
import { ThreadMeter } from './host/thread-meter.ts'
import { ReplayIntake } from './jobs/replay-intake.ts'
import type { PipelineOptions } from './pipeline-options.ts'
import { BackfillTail } from './reading/backfill-tail.ts'
import { MESSAGE_INDEX, MessageIndex } from './reading/message-index.ts'
import { ParsedRecords } from './reading/parsed-records.ts'
import { Tail } from './reading/tail.ts'

/**
 * Connects some partitions of the log to the destinations: reads accepted events once, passes each to the lanes of the
 * connected destinations, and keeps the destinations independent of each other.
 *
 * @see contracts/delivery.md §1, §11a; ARCHITECTURE.md, invariants 4 to 9
 */
export class Pipeline implements Shard {
  readonly partitions: readonly number[]
  readonly #index: MessageIndex
  readonly #options: PipelineOptions
  readonly #backed: BackedLog
  readonly #deps: DeliveryDeps
  readonly #tail: Tail
  readonly #backfillTail: BackfillTail
  readonly #spans: Spans
  readonly #deliveries: DestinationDeliveries
  readonly #removals: Removals
  readonly #replays: ReplayIntake
  readonly #expiry: BacklogExpiry
  readonly #meter = new ThreadMeter()
  #configuration: Configuration
  #stopListening: () => void = () => {}
  #stopListeningForDamage: () => void = () => {}
  #stopped: Promise<void> | undefined

  /** Continues where the last owner of the partitions stopped, and starts delivering. */
  static async start(options: PipelineOptions): Promise<Pipeline> {
    const pipeline = new Pipeline(options, new Spans(options.log, await options.store.spans.all()))
    await pipeline.#start()
    return pipeline
  }

  private constructor(options: PipelineOptions, spans: Spans) {
    const { log, partitions, store, clock, logger } = options
    this.partitions = partitions
    this.#options = options
    this.#configuration = options.configuration
    this.#spans = spans
    this.#backed = new BackedLog(log, store.backlog)
    this.#deliveries = new DestinationDeliveries(spans)
    this.#index = new MessageIndex(store.messages)
    const ends = Array.from({ length: log.partitions }, (_, partition) => log.end(partition))
    const onReadError = (error: Error) => logger.error({ cause: error.message }, 'the log cannot be read')
    const handOut = (partition: number, records: readonly StoredRecord[]) => this.#handOut(partition, records)
    const onGap = (partition: number) => {
      for (const { feed } of this.#deliveries.byId.values()) feed.leaveTail(partition)
    }
    this.#tail = new Tail(log, partitions, clock, ends, handOut, onGap, onReadError)
    const takeBackfill = (partition: number, records: readonly StoredRecord[]) => this.#takeBackfill(partition, records)
    this.#backfillTail = new BackfillTail(log, partitions, clock, ends, takeBackfill, onReadError)
    this.#deps = this.#newDeps(new ConfiguredSources(() => this.#configuration, options.sourceClass))
    const deliveries = this.#deliveries.byId
    const waiting = (scope: Scope) => this.#deliveries.waiting(scope)
    this.#removals = new Removals({ log, partitions, deliveries, waiting })
    this.#replays = new ReplayIntake({
      deps: this.#deps,
      delivery: (id) => deliveries.get(id),
      deliveries: () => deliveries.values(),
      onEnded: options.onReplayEnded,
    })
    this.#expiry = new BacklogExpiry({ store, clock, logger })
  }

  #newDeps(sources: ConfiguredSources): DeliveryDeps {
    const { findModule, logger, ...given } = this.#options
    return {
      ...given,
      logger,
      log: this.#backed,
      tallies: new LogTallies(this.#backed),
      parsed: new ParsedRecords((partition, offset, error) =>
        logger.error({ partition, offset, cause: error.message }, 'a stored record cannot be read'),
      ),
      moduleOf: moduleOf(findModule),
      sourceOf: (sourceId) => sources.get(sourceId),
      tailAt: (partition) => this.#tail.offset(partition),
      backfillEnd: this.#backfillTail.end,
    }
  }

  async #start(): Promise<void> {
    const { log, partitions, store, recovery } = this.#options
    await this.#backed.refresh()
    const positions = await store.outcomes.positions()
    const positionOf: PositionOf = (reader, partition, stream) =>
      positions.find((row) => row.reader === reader && row.partition === partition && row.stream === stream)?.position
    const indexedTo = (partition: number, stream: number) => positionOf(MESSAGE_INDEX, partition, stream)?.offset ?? 0
    await this.#index.catchUp(log, partitions, indexedTo)
    const places = new StartingPlaces(log, partitions, this.#spans, this.#deps.tallies, positionOf)
    const isOwn = ({ partition }: { readonly partition: number }) => partitions.includes(partition)
    const starts: [ConfiguredDestination, StartingPoint][] = []
    for (const destination of this.#configuration.destinations.values()) {
      const resumed = await store.outcomes.resume({ destinationId: destination.id, partitions })
      starts.push([destination, { start: await places.of(destination.id), resumed }])
    }
    // In one turn: a lane that is open may send, and must know the held sources, the rules and consent before it does.
    for (const [destination, from] of starts) {
      const delivery = this.#deliveries.open(destination, this.#configuration.revision, from, this.#deps)
      if (recovery?.isOneAtATime === true) delivery.beginAlone()
    }
    this.#deliveries.configure(this.#configuration)
    this.#stopListening = log.onCommit((partition, stream) => {
      if (stream === 'backfill' && isOwn({ partition })) this.#pullBackfills([partition])
    })
    // Some may have been stored since the ends were read.
    this.#pullBackfills(partitions)
    this.#stopListeningForDamage = log.onDamage(() => this.#deps.tallies.forget())
    this.#tail.start()
  }

  #pullBackfills(partitions: readonly number[]): void {
    for (const partition of partitions) this.#backfillTail.moveOn(partition)
    for (const { feed } of this.#deliveries.byId.values()) feed.pull()
  }

  async resumed(): Promise<void> {
    const { recovery } = this.#options
    void recovery?.runOneAtATime([...this.#deliveries.byId.values()]).then((isOver) => {
      if (isOver) this.endAlone()
    })
  }

  /** Until `endAlone` its lanes send nothing by themselves; calls in flight go on. */
  beginAlone(): void {
    for (const delivery of this.#deliveries.byId.values()) delivery.beginAlone()
  }

  endAlone(): void {
    for (const delivery of this.#deliveries.byId.values()) delivery.endAlone()
  }

  /** Events in calls that have no answer yet. */
  get inFlight(): number {
    return [...this.#deliveries.byId.values()].reduce((sum, { lane }) => sum + lane.status.inFlight, 0)
  }

  async configure(change: ConfigurationChange): Promise<Removed[]> {
    const { configuration } = change
    const before = this.#configuration
    this.#configuration = configuration
    this.#spans.reconcile(change)
    const removed = this.#removals.carryOut(before, configuration, this.#spans.all)
    this.#deliveries.openNew(change, this.#deps)
    // After a crash the place that went back is the one that counts; outcomes of what was removed must not follow later.
    if (this.#deliveries.configure(configuration) || (await removed).length > 0) await this.#options.store.flush()
    return removed
  }

  stop(deadline: Promise<void>): Promise<void> {
    this.#stopped ??= this.#stop(deadline)
    return this.#stopped
  }

  async #stop(deadline: Promise<void>): Promise<void> {
    this.#stopListening()
    this.#stopListeningForDamage()
    this.#tail.stop()
    this.#backfillTail.stop()
    this.#expiry.stop()
    const deliveries = [...this.#deliveries.byId.values()]
    for (const { feed } of deliveries) feed.close()
    await Promise.all(deliveries.map(({ lane }) => lane.stop(deadline)))
    await this.#index.flush()
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

  async trouble(): Promise<string | undefined> {
    return this.#options.store.trouble() ?? this.#tail.trouble() ?? this.#deliveries.fault()
  }

  get deliveries(): ReadonlyMap<string, DestinationDelivery> {
    return this.#deliveries.byId
  }

  waiting(scope: Scope): Promise<number> {
    return this.#deliveries.waiting(scope)
  }

  trace(asked: TraceAsked): Promise<object[]> {
    const { partitions, store, clock } = this.#options
    const sources = { partitions, store, clock, log: this.#backed, index: this.#index, deliveries: this.deliveries }
    return traceEvents(sources, asked)
  }

  outcomesNow(events: readonly FoundEvent[]) {
    return outcomesNow(events, () => this.deliveries.values(), this.#options.clock)
  }

  async renderedRequest(letter: DeadLetterRow) {
    return this.deliveries.get(letter.destinationId)?.stages.renderedRequest(letter)
  }

  states(destinationIds: readonly string[]) {
    const { log } = this.#options
    const stateOf = (id: string) => {
      const delivery = this.deliveries.get(id)
      return delivery && shardState(delivery, log)
    }
    return Promise.all(destinationIds.map(stateOf))
  }

  async activity(destinationIds: readonly string[] = [...this.deliveries.keys()]) {
    const found = destinationIds.flatMap((id) => this.deliveries.get(id) ?? [])
    const untaken = await Promise.all(found.map((delivery) => delivery.untaken.count()))
    return new Map(
      found.map(({ destination, lane }, i) => {
        return [
          destination.id,
          { waiting: lane.status.unfinishedCount + untaken[i]!.events, durations: lane.latency.total() },
        ]
      }),
    )
  }

  async counts() {
    return this.#options.metrics
  }

  async needs({ writesIndex, dropsKept }: { writesIndex: boolean; dropsKept: boolean }): Promise<PartitionNeeds[]> {
    const { store } = this.#options
    if (writesIndex) await this.#index.flush()
    const needs: PartitionNeeds[] = []
    for (const partition of this.partitions) {
      const neededFrom = this.#orNothing(
        partition,
        Math.min(this.#passed(partition), this.#deliveries.neededFrom(partition)),
      )
      const kept = this.#backed.kept(partition)
      if (dropsKept && kept !== undefined && kept.from < neededFrom) {
        await store.backlog.dropKept({ partition, before: Math.min(neededFrom, kept.to) })
        await this.#backed.refresh()
      }
      const readUpTo = this.#orNothing(partition, this.#passed(partition))
      needs.push({ partition, neededFrom, readUpTo, keptFrom: this.#backed.kept(partition)?.from })
    }
    return needs
  }

  keepUnfinished({ partition, ...range }: OffsetRange & { readonly partition: number }): Promise<number> {
    const { store } = this.#options
    return keepUnfinished(partition, range, { backed: this.#backed, store, deliveries: () => this.deliveries.values() })
  }

  /** As `keepUnfinished`, for events of log replays before an offset. @see keepReplayed */
  keepReplayed(partition: number, before: number, known: Set<number>): Promise<void> {
    const { store } = this.#options
    const deliveries = () => this.deliveries.values()
    return keepReplayed(partition, before, known, { backed: this.#backed, store, deliveries })
  }

  async pruneSpans(keptFrom: readonly number[]): Promise<void> {
    this.#spans.prune(keptFrom)
  }

  waitingShares() {
    return waitingShares(this.deliveries.values())
  }

  waitingBytes(): Promise<number> {
    return waitingBytes([...this.deliveries.values()], this.#options.log, this.#deps.tallies)
  }

  async expireWaiting({ destinationId, bytes, isKept }: Parameters<Shard['expireWaiting']>[0]) {
    const delivery = this.deliveries.get(destinationId)
    if (delivery === undefined) return { count: 0, bytes: 0 }
    return this.#expiry.expire(delivery, bytes, (partition) => {
      return isKept ? (this.#backed.kept(partition)?.to ?? 0) : this.#options.log.end(partition)
    })
  }

  takeReplayed(take: ReplayedTake) {
    return this.#replays.take(take)
  }

  async abandonTakes(jobId: string): Promise<void> {
    this.#replays.abandonTakes(jobId)
  }

  async resumeReplayed(waits: readonly JourneyWrite[]): Promise<void> {
    this.#replays.resume(waits)
  }

  async deliverLetters(letters: readonly DeadLetterRow[]): Promise<void> {
    this.#replays.letters(letters)
  }

  async withdrawReplayed(jobId: string): Promise<void> {
    this.#replays.withdraw(jobId)
  }

  async load() {
    return this.#meter.load()
  }

  flush(): Promise<void> {
    return this.#options.store.flush()
  }

  /** The offset that the shared readers have passed. */
  #passed(partition: number): number {
    return Math.min(this.#index.position(partition), this.#tail.offset(partition))
  }

  /** Infinity where the partition has no record from the offset on: a quiet partition holds up nothing. */
  #orNothing(partition: number, offset: number): number {
    return offset >= this.#options.log.end(partition) ? Number.POSITIVE_INFINITY : offset
  }

  #handOut(partition: number, records: readonly StoredRecord[]): void {
    const { live } = this.#options
    const offered = new Set<DestinationDelivery>()
    for (const record of records) {
      this.#index.add(partition, 0, record)
      if (live.isWatched) this.#showAccepted(partition, record)
      for (const delivery of this.#deliveries.ofSource(record.header.sourceId)) {
        delivery.feed.offer(partition, record)
        offered.add(delivery)
      }
      this.#deps.parsed.drop(record)
    }
    for (const { lane } of offered) lane.pump()
  }

  #showAccepted(partition: number, record: StoredRecord): void {
    this.#options.live.accepted(record.header, () => this.#deps.parsed.eventsOf(partition, record))
  }

  #takeBackfill(partition: number, records: readonly StoredRecord[]): void {
    const { live } = this.#options
    for (const record of records) {
      this.#index.add(partition, 1, record)
      if (live.isWatched) this.#showAccepted(partition, record)
    }
  }
}
