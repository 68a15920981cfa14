import {
  type DeadLetterRow,
  type JourneyWrite,
  JUDGED_ANSWER_BYTES,
  Lane,
  type LaneEvent,
  type LaneOutcomes,
  type Position,
  type Prepared,
  type Transform,
} from '@millrace/delivery'
import type { DestinationModule } from '@millrace/destinations'
import { addToTally, STREAMS, type Stream, type Tally } from '@millrace/log'
import type { EventPosition, StoredEvent } from '@millrace/protocol'
import type { Activity } from './activity.ts'
import type { ConfiguredDestination } from './configuration.ts'
import type { LiveOutcome } from './events/live-view.ts'
import { Feed, isBefore } from './feed.ts'
import { filterReason } from './filters.ts'
import { replayLetter } from './jobs/replay-letter.ts'
import { deliverWait, type ReplayedEvent } from './jobs/replayed-event.ts'
import { LiveUserCode, type LiveUserCodeOptions } from './live-user-code.ts'
import { Rendering } from './rendering.ts'
import { Stages } from './stages.ts'
import type { StartingPoint, Surroundings } from './surroundings.ts'

/** After the log could not be read. */
const READ_AGAIN_MS = 1_000

/**
 * Everything that belongs to one destination: its lane, what feeds it, and the stages that its events pass. A changed
 * configuration governs the next event; the lane and what waits in it stay.
 */
export class DestinationDelivery {
  readonly lane: Lane
  readonly feed: Feed
  readonly #surroundings: Surroundings
  readonly #module: DestinationModule
  readonly #outcomes: LaneOutcomes
  #destination: ConfiguredDestination
  #stages: Stages
  #revision: number

  /** @param configurationRevision of the configuration that the destination is of. */
  constructor(
    destination: ConfiguredDestination,
    configurationRevision: number,
    activity: Activity,
    from: StartingPoint,
    surroundings: Surroundings,
  ) {
    const { log, store, clock, random, memory, parsed, metrics, logger, live } = surroundings
    const { id } = destination
    this.#surroundings = surroundings
    this.#destination = destination
    this.#module = surroundings.moduleOf(destination.type)
    this.#stages = this.#newStages()
    this.#outcomes = store.outcomesOf(id)
    this.#revision = effectiveRevision(destination, configurationRevision)
    this.#noteVersions()
    this.lane = new Lane({
      destinationId: id,
      clock,
      random,
      client: surroundings.newClient(
        this.#module.classify === undefined ? {} : { maxAnswerBytes: JUDGED_ANSWER_BYTES },
      ),
      outcomes: this.#outcomes,
      memory,
      settings: { ...destination.delivery, revision: this.#revision },
      transform: this.#newTransform(),
      prepare: (event) => this.#prepare(event),
      load: (events) => this.#load(events),
      onRoom: () => this.feed.pull(),
      onAttempt: (answerClass) => metrics.attempt(id, answerClass),
      onRetry: (event, status, durationMs) => this.#show(event, 'retrying', null, status, durationMs),
      onOutcome: (outcome, event, status, durationMs, reason) => {
        metrics.outcome(id, outcome, 1, reason)
        this.#show(event, outcome, reason, status, durationMs)
        if (outcome === 'delivered') surroundings.onDelivered(event, this.#destination, status, durationMs)
      },
      logger,
    })
    // What waits at or after the position is taken up again by the feed in its place: there may be earlier events of its
    // user between the position and it.
    const { true: passed = [], false: ahead = [] } = Object.groupBy(from.resumed.waiting, (wait) =>
      String(isBefore(wait, from.start(wait.partition, wait.stream))),
    )
    this.feed = new Feed({
      lane: this.lane,
      outcomes: this.#outcomes,
      log,
      parsed,
      activity,
      start: from.start,
      done: from.resumed.done,
      waiting: ahead,
      tailAt: surroundings.tailAt,
      importEnd: surroundings.importEnd,
      filter: (event, sourceId) => this.filter(event, sourceId),
      now: () => clock.now(),
      revision: () => this.#revision,
      onFiltered: (event, sourceId, reason) => {
        metrics.outcome(id, 'filtered', 1, reason)
        if (!live.isWatched) return
        live.outcome(event, sourceId, { destinationId: id, outcome: 'filtered', reason, status: 0, durationMs: 0 })
      },
      onDuplicate: (event, sourceId) => {
        if (!live.isWatched) return
        live.outcome(event, sourceId, {
          destinationId: id,
          outcome: 'duplicate',
          reason: null,
          status: 0,
          durationMs: 0,
        })
      },
      onError: (error) => {
        logger.error({ destinationId: id, cause: error.message }, 'the log cannot be read')
        clock.setTimer(() => this.feed.pull(), READ_AGAIN_MS)
      },
    })
    this.lane.setEnabled(destination.isEnabled)
    this.lane.resume(passed)
  }

  get destination(): ConfiguredDestination {
    return this.#destination
  }

  /** Under which outcomes are recorded: that of its last change, also of its user code. */
  get revision(): number {
    return this.#revision
  }

  /** Of the user code that its events pass, in their order. */
  get versionIds(): string[] {
    return this.#destination.transformations.map(({ versionId }) => versionId)
  }

  get definition() {
    return this.#module.definition
  }

  /** @param heldSources sources whose connection is disabled. */
  configure(
    destination: ConfiguredDestination,
    configurationRevision: number,
    activity: Activity,
    heldSources: ReadonlySet<string>,
  ): void {
    const before = this.#destination
    const isChanged = destination.revision !== before.revision || destination.transformations !== before.transformations
    this.#destination = destination
    this.feed.activity = activity
    if (isChanged) {
      this.#stages = this.#newStages()
      this.#revision = effectiveRevision(destination, configurationRevision)
      this.#noteVersions()
      this.lane.configure({ ...destination.delivery, revision: this.#revision }, this.#newTransform())
    }
    this.lane.setEnabled(destination.isEnabled)
    this.lane.holdOnly(heldSources)
    this.feed.pull()
  }

  /** What is made of an event today. */
  rendering(event: StoredEvent, sourceId: string, place: EventPosition): Rendering {
    const { userCode, sourceOf } = this.#surroundings
    const source = sourceOf(sourceId)
    return new Rendering({ stages: this.#stages, revision: this.#revision, userCode, source, sourceId, event, place })
  }

  /**
   * Takes up a dead letter again, from the beginning of the path: filters, transformation, attempts from the first on.
   * `lane.pump` is to be called after a batch of them. Nothing is taken up of a source that was removed meanwhile.
   *
   * @param onEnd called once the lane has done with it.
   * @returns whether the lane has it.
   */
  replay(letter: DeadLetterRow, onEnd: () => void): boolean {
    const { clock, metrics } = this.#surroundings
    if (!this.feed.activity.knows(letter.sourceId)) return false
    const payload = JSON.parse(letter.event) as StoredEvent
    const reason = this.filter(payload, letter.sourceId)
    if (reason !== undefined && letter.wait === null) {
      this.#outcomes.replayFiltered(letter.id, reason, clock.now(), this.#revision)
      metrics.outcome(this.#destination.id, 'filtered', 1, reason)
      return false
    }
    replayLetter(this.lane, letter, payload, onEnd)
    return true
  }

  /** Whether an event of the log may be delivered again: not if its first delivery is still to come, or its source is gone. */
  mayReplay(
    partition: number,
    { stream, offset, index, sourceId }: Omit<ReplayedEvent, 'partition' | 'event' | 'sizeBytes'>,
  ): boolean {
    const { activity } = this.feed
    if (!activity.knows(sourceId)) return false
    return (
      !activity.isConnected(sourceId, partition, offset) || this.feed.hasPassed(partition, stream, { offset, index })
    )
  }

  /** Takes up an event of the log again, as it waits on disk; `lane.pump` is to be called after a batch of them. */
  replayEvent({ event }: ReplayedEvent, wait: JourneyWrite, onEnd: () => void): void {
    deliverWait(this.lane, wait, event, onEnd)
  }

  /** Goes on with what replays of the log had taken up in an earlier process. @param onEndOf made for each of them. */
  resumeReplayed(waits: readonly JourneyWrite[], onEndOf: () => () => void): void {
    for (const wait of waits) deliverWait(this.lane, wait, undefined, onEndOf())
    this.lane.pump()
  }

  /** Reads the payload of an event that is not in memory. */
  async payloadOf(event: LaneEvent): Promise<StoredEvent | undefined> {
    return event.payload ?? (await this.#load([event]))[0]
  }

  /** Events that have no final outcome at this moment: taken up or not. @param sourceId all sources if it is left out. */
  async waiting(sourceId?: string): Promise<{ events: number; bytes: number }> {
    const takenUp = this.takenUp(sourceId)
    const untaken = await this.untaken(sourceId)
    return { events: takenUp.events + untaken.events, bytes: takenUp.bytes + untaken.bytes }
  }

  /** Those of them that still lie in the log. Asks for everything before it waits, so it tells of the moment of the call. */
  async untaken(sourceId?: string): Promise<{ events: number; bytes: number }> {
    const { log } = this.#surroundings
    const partitions = Array.from({ length: log.partitions }, (_, partition) => partition)
    const tallies = await Promise.all(
      partitions.map((partition) => {
        const cursors = STREAMS.map((_, stream) => this.feed.cursor(partition, stream))
        return this.untakenBetween(partition, cursors, log.end(partition))
      }),
    )
    let events = 0
    let bytes = 0
    for (const [id, count] of tallies.flatMap((tally) => [...tally])) {
      if (sourceId !== undefined && id !== sourceId) continue
      events += count.events
      bytes += count.bytes
    }
    return { events, bytes }
  }

  /** Events of connected sources from a cursor in each stream up to an offset, by source. */
  async untakenBetween(partition: number, cursors: readonly Position[], to: number): Promise<Tally> {
    const { tallies } = this.#surroundings
    const { activity } = this.feed
    const sum: Tally = new Map()
    const asked: Promise<void>[] = []
    const add = async (stream: Stream, range: { from: number; to: number }, taken: number) => {
      for (const [id, count] of await tallies.tally(partition, stream, range)) {
        if (count.events === 0) continue
        if (!activity.isConnected(id, partition, range.from)) continue
        const events = count.events - taken
        addToTally(sum, id, events, Math.round((count.bytes * events) / count.events))
      }
    }
    for (const [stream, name] of STREAMS.entries()) {
      const { offset, index } = cursors[stream]!
      if (offset >= to) continue
      // Of the record at the cursor some events may have been taken up already.
      if (index > 0) asked.push(add(name, { from: offset, to: offset + 1 }, index))
      for (const piece of activity.pieces(partition, index > 0 ? offset + 1 : offset, to))
        asked.push(add(name, piece, 0))
    }
    await Promise.all(asked)
    return sum
  }

  /** Gives up what waits before an offset, but for what is in flight. Whoever calls records what it returns. */
  giveUpBefore(partition: number, offset: number) {
    const cursors = this.feed.skipTo(partition, offset)
    const events = this.lane.giveUpBefore(partition, offset)
    const isInFlight = (event: LaneEvent) => event.partition === partition && event.offset < offset
    const inFlight = [...this.lane.unfinished()].filter(isInFlight)
    return { cursors, events, inFlight }
  }

  takenUp(sourceId?: string): { events: number; bytes: number } {
    let events = 0
    let bytes = 0
    for (const event of this.lane.unfinished()) {
      if (sourceId !== undefined && event.sourceId !== sourceId) continue
      events++
      bytes += event.sizeBytes
    }
    return { events, bytes }
  }

  /** Offsets from here on must stay in the log: a position, or the oldest wait. */
  neededFrom(partition: number): number {
    let offset = this.feed.position(partition)
    for (const event of this.lane.unfinished()) {
      // A dead letter keeps its event.
      if (event.replayed?.letterId !== undefined) continue
      if (event.partition === partition && event.offset < offset) offset = event.offset
    }
    return offset
  }

  /** The destination is gone: nothing more is sent, and nothing of it is written any more. */
  async remove(): Promise<void> {
    this.feed.close()
    this.lane.discard(undefined)
    this.#outcomes.drop()
    await this.lane.stop(Promise.resolve())
  }

  /** For those who watch. An event whose payload is lost has no name to show it by. */
  #show(
    { payload, sourceId }: LaneEvent,
    outcome: LiveOutcome['outcome'],
    reason: string | null,
    status: number,
    durationMs: number,
  ): void {
    const { live } = this.#surroundings
    if (!live.isWatched || payload === undefined) return
    live.outcome(payload, sourceId, { destinationId: this.#destination.id, outcome, reason, status, durationMs })
  }

  /** Why the filters of today leave an event out; undefined if they do not. */
  filter(event: StoredEvent, sourceId: string) {
    const { id, name, config } = this.#destination
    const filtered = { id, name, config, module: this.#module }
    return filterReason(event, filtered, this.#surroundings.sourceOf(sourceId)?.class ?? '')
  }

  async #load(events: readonly LaneEvent[]): Promise<(StoredEvent | undefined)[]> {
    const { log, parsed, store, logger } = this.#surroundings
    const payloads: (StoredEvent | undefined)[] = []
    const { log: ofLog = [], letters = [] } = Object.groupBy([...events.entries()], ([, { replayed }]) =>
      replayed?.letterId === undefined ? 'log' : 'letters',
    )
    if (letters.length > 0) {
      const ids = letters.map(([, { replayed }]) => replayed!.letterId!)
      const kept = await store.call('letterEvents', ids)
      for (const [i, [at]] of letters.entries()) {
        const event = kept[i]
        payloads[at] = event === undefined ? undefined : JSON.parse(event)
      }
    }
    for (const [partition, ofPartition] of Map.groupBy(ofLog, ([, event]) => event.partition)) {
      const records = await log
        .get(
          partition,
          ofPartition.map(([, event]) => event.offset),
        )
        .catch((error: Error) => {
          logger.error({ destinationId: this.#destination.id, cause: error.message }, 'the log cannot be read')
          throw error
        })
      for (const [i, record] of records.entries()) {
        const [at, event] = ofPartition[i]!
        payloads[at] = record && parsed.eventsOf(partition, record)[event.index]
      }
    }
    return payloads
  }

  /** All that is to be sent for an event, or what went wrong with any of it. */
  #prepare({ payload, transformed, sourceId }: LaneEvent): Prepared {
    if (transformed?.kind !== 'events') return this.#stages.prepare([payload!], sourceId)
    return this.#stages.prepare(transformed.events, sourceId, transformed.secrets)
  }

  #newTransform(): Transform | undefined {
    if (this.#destination.transformations.length === 0) return undefined
    const { userCode, clock, sourceOf, metrics, logger } = this.#surroundings
    const destination = this.#destination
    const onError = (transformationId: string) => metrics.transformationError(transformationId)
    const onFlow: LiveUserCodeOptions['onFlow'] = (...flow) => metrics.flow(...flow)
    const options = { destination, stages: this.#stages, userCode, clock, sourceOf, onError, onFlow, logger }
    return new LiveUserCode(options).transform
  }

  #noteVersions(): void {
    const { versionIds } = this
    if (versionIds.length > 0) this.#outcomes.noteVersions(this.#revision, versionIds)
  }

  #newStages(): Stages {
    const { userAgent, clock } = this.#surroundings
    return new Stages(
      { ...this.#destination, module: this.#module },
      { userAgent, isUserAgentAdded: false, nowSeconds: () => Math.floor(clock.now() / 1000) },
    )
  }
}

/**
 * A new version of user code is no change of the destination: what has user code is under the revision of the whole
 * configuration, so that each revision of a destination stands for the same versions for ever.
 */
function effectiveRevision(
  { revision, transformations }: ConfiguredDestination,
  configurationRevision: number,
): number {
  return transformations.length === 0 ? revision : configurationRevision
}
