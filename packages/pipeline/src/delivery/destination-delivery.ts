import {
  type DeadLetterRow,
  type FilterReason,
  INTERNAL_ERROR,
  isBefore,
  JUDGED_ANSWER_BYTES,
  Lane,
  type LaneClient,
  type LaneEvent,
  type LaneOutcomes,
  type PositionWrite,
} from '@millrace/delivery'
import type { DestinationModule } from '@millrace/destinations'
import type { StoredEvent } from '@millrace/protocol'
import type { LiveResult } from '../events/live-view.ts'
import type { Activity } from '../following/activity.ts'
import type { ConfiguredDestination } from '../following/configuration.ts'
import { refuseLetter, replayLetter } from '../jobs/letters/replay-letter.ts'
import type { ReplayedEvent } from '../jobs/log/replayed-event.ts'
import { Feed } from '../reading/feed.ts'
import { acceptedEvents, storedPayloads } from '../reading/stored-payloads.ts'
import { UntakenEvents } from '../reading/untaken-events.ts'
import { RemoteClient } from '../stages/remote/remote-client.ts'
import type { Screening } from '../stages/screening.ts'
import { CurrentStages } from './current-stages.ts'
import type { DeliveryDeps, StartingPoint } from './delivery-deps.ts'

/** Delay before the next try when the log could not be read. */
const READ_AGAIN_MS = 1_000

/**
 * All parts of one destination: its lane, its feed, and the stages of its events. A changed configuration takes effect
 * with the next event; the lane and its waiting events stay.
 */
export class DestinationDelivery {
  readonly lane: Lane
  readonly feed: Feed
  readonly untaken: UntakenEvents
  readonly stages: CurrentStages
  readonly #deps: DeliveryDeps
  readonly #outcomes: LaneOutcomes

  /** @param configurationRevision of the configuration that contains the destination. */
  constructor(
    destination: ConfiguredDestination,
    configurationRevision: number,
    activity: Activity,
    from: StartingPoint,
    deps: DeliveryDeps,
  ) {
    const { log, store, metrics } = deps
    const { id } = destination
    this.#deps = deps
    this.stages = new CurrentStages(destination, configurationRevision, deps)
    this.#outcomes = store.outcomesOf(id)
    this.#outcomes.readAccepted = (places) => acceptedEvents(places, deps)
    this.#outcomes.onInternalErrors = (count) => metrics.outcome(id, 'dead_lettered', count, INTERNAL_ERROR)
    this.#noteVersions()
    this.lane = this.#newLane()
    // The feed takes a waiting event at or after the position again in its place: earlier events of its user may stand before it.
    const { true: passed = [], false: ahead = [] } = Object.groupBy(from.resumed.waiting, (wait) =>
      String(isBefore(wait, from.start(wait.partition, wait.stream))),
    )
    this.feed = this.#newFeed(activity, from, ahead)
    this.untaken = new UntakenEvents(log, deps.tallies, this.feed)
    this.lane.setEnabled(destination.isEnabled)
    this.lane.resume(passed)
  }

  #newLane(): Lane {
    const { store, clock, random, memory, limitsOf, metrics, logger, onDelivered, lostReason } = this.#deps
    const { id } = this.destination
    return new Lane({
      destinationId: id,
      clock,
      random,
      client: this.#newClient(),
      limits: limitsOf(id),
      outcomes: this.#outcomes,
      memory,
      settings: this.stages.laneSettings(),
      transform: this.stages.transform(),
      prepare: (event) => this.stages.prepare(event),
      mask: (text) => this.stages.mask(text),
      load: (events) => this.#load(events),
      lostReason,
      loadHistories: (events) => store.outcomes.histories({ destinationId: id, events: events.map(waitingPlace) }),
      onRoom: () => this.feed.pull(),
      onAttempt: (answerClass) => metrics.attempt(id, answerClass),
      onRetry: ({ payload, sourceId }, status, durationMs) =>
        this.#show(payload, sourceId, 'retrying', null, status, durationMs),
      onOutcome: (outcome, event, status, durationMs, reason) => {
        metrics.outcome(id, outcome, 1, reason)
        this.#show(event.payload, event.sourceId, outcome, reason, status, durationMs)
        if (outcome === 'delivered') onDelivered(event, this.destination, status, durationMs)
      },
      logger,
    })
  }

  /** @param waiting at or after the starting point. */
  #newFeed(activity: Activity, { start, resumed }: StartingPoint, waiting: StartingPoint['resumed']['waiting']): Feed {
    const { log, partitions, clock, parsed, metrics, tailAt, backfillEnd, onGap } = this.#deps
    const { id } = this.destination
    return new Feed({
      lane: this.lane,
      outcomes: this.#outcomes,
      log,
      partitions,
      parsed,
      activity,
      start,
      done: resumed.done,
      waiting,
      tailAt,
      backfillEnd,
      filter: (event, sourceId) => this.stages.filter(event, sourceId),
      now: () => clock.now(),
      revision: () => this.stages.revision,
      onFiltered: (event, sourceId, reason) => {
        metrics.outcome(id, 'filtered', 1, reason)
        this.#show(event, sourceId, 'filtered', reason)
      },
      onGap: onGap && ((partition, gap) => onGap(id, this.feed.activity, partition, gap)),
      onDuplicate: (event, sourceId) => this.#show(event, sourceId, 'duplicate', null),
      onError: (error) => {
        this.#tellOfLog(error)
        clock.setTimer(() => this.feed.pull(), READ_AGAIN_MS)
      },
    })
  }

  get destination(): ConfiguredDestination {
    return this.stages.destination
  }

  /**
   * @param heldSources sources whose connection is disabled.
   * @param screening undefined where neither rules nor consent matter.
   * @returns whether it reads a part of the log again, for a connection that began in it.
   */
  configure(
    destination: ConfiguredDestination,
    configurationRevision: number,
    activity: Activity,
    heldSources: ReadonlySet<string>,
    screening: Screening | undefined,
  ): boolean {
    const isChanged = this.stages.configure(destination, configurationRevision, screening)
    const readsAgain = this.feed.follow(activity)
    if (isChanged) {
      this.#noteVersions()
      this.lane.configure(this.stages.laneSettings(), this.stages.transform())
    }
    this.lane.setEnabled(destination.isEnabled)
    this.lane.holdOnly(heldSources)
    this.feed.pull()
    return readsAgain
  }

  /**
   * Delivers a dead letter again from the beginning of the path: filters, transformation, first attempt. Call
   * `lane.pump` after a batch of them. A dead letter of a removed source is not taken.
   *
   * @param onEnd called when the lane has finished the event.
   * @returns whether the lane took it.
   */
  replay(letter: DeadLetterRow, onEnd: () => void): boolean {
    const { clock, metrics } = this.#deps
    if (!this.feed.activity.knows(letter.sourceId)) return false
    const payload = JSON.parse(letter.event) as StoredEvent
    let reason: FilterReason | undefined
    try {
      reason = this.stages.filter(payload, letter.sourceId)
    } catch (error) {
      refuseLetter(this.lane, letter, payload, onEnd, error as Error)
      return true
    }
    if (reason !== undefined && letter.wait === null) {
      this.#outcomes.replayFiltered(letter.id, reason, clock.now(), this.stages.revision)
      metrics.outcome(this.destination.id, 'filtered', 1, reason)
      return false
    }
    replayLetter(this.lane, letter, payload, onEnd)
    return true
  }

  /**
   * Whether an event of the log may be delivered again: not if its first delivery is still to come, or its source was
   * removed.
   */
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

  /** Until `endAlone` the feed takes nothing and the lane sends nothing: `OneAtATime` delivers events one at a time. */
  beginAlone(): void {
    this.lane.beginAlone()
    this.feed.beginAlone()
  }

  endAlone(): void {
    this.lane.endAlone()
    this.feed.endAlone()
  }

  /** Reads the payload of an event that is not in memory. */
  async payloadOf(event: LaneEvent): Promise<StoredEvent | undefined> {
    return event.payload ?? (await this.#load([event]))[0]
  }

  /** Number of events without final outcome, in the lane or not. @param sourceId undefined: all sources. */
  async waiting(sourceId?: string): Promise<{ events: number; bytes: number }> {
    const takenUp = this.takenUp(sourceId)
    const untaken = await this.untaken.count(sourceId)
    return { events: takenUp.events + untaken.events, bytes: takenUp.bytes + untaken.bytes }
  }

  takenUp(sourceId?: string): { events: number; bytes: number } {
    const { unfinishedCount, unfinishedBytes } = this.lane.status
    if (sourceId === undefined) return { events: unfinishedCount, bytes: unfinishedBytes }
    let events = 0
    let bytes = 0
    for (const event of this.lane.unfinished()) {
      if (event.sourceId !== sourceId) continue
      events++
      bytes += event.sizeBytes
    }
    return { events, bytes }
  }

  /**
   * Gives up the events that wait before an offset, except those in flight, which get a row. Once that is on disk, the caller records
   * the returned ranges together with `placesPast`, and calls `gaveUp`.
   */
  giveUpBefore(partition: number, offset: number) {
    const cursors = this.feed.skipTo(partition, offset)
    const events = this.lane.giveUpBefore(partition, offset)
    return { cursors, events }
  }

  /** The positions that pass the events before an offset that were given up. */
  placesPast(partition: number, offset: number): PositionWrite[] {
    return this.feed.placesPast(partition, offset).map((place) => ({ reader: this.destination.id, ...place }))
  }

  /** What was given up is recorded, with these positions. */
  gaveUp(partition: number, positions: readonly PositionWrite[]): void {
    this.#outcomes.placed(positions)
    this.feed.skipped(partition)
  }

  /** Events of the lane before an offset; after `giveUpBefore` those in flight and the replayed ones. */
  unfinishedBefore(partition: number, offset: number): LaneEvent[] {
    return [...this.lane.unfinished()].filter((event) => event.partition === partition && event.offset < offset)
  }

  /** The log must keep offsets from here on: the position, or the oldest wait. */
  neededFrom(partition: number): number {
    let offset = this.feed.position(partition)
    for (const event of this.lane.unfinished()) {
      // A dead letter stores its event.
      if (event.replayed?.letterId !== undefined) continue
      if (event.partition === partition && event.offset < offset) offset = event.offset
    }
    return offset
  }

  /** The connection of a source was removed. */
  discard(sourceId: string): void {
    this.feed.dropped(sourceId, this.lane.discard(sourceId))
  }

  /** The destination was removed: nothing more is sent or written for it. */
  async remove(): Promise<void> {
    this.feed.close()
    this.lane.discard(undefined)
    this.#outcomes.drop()
    await this.lane.stop(Promise.resolve())
  }

  /** Reports the delivery to the live view. An event whose payload is lost has no name. */
  #show(
    payload: StoredEvent | undefined,
    sourceId: string,
    outcome: LiveResult['outcome'],
    reason: string | null,
    status = 0,
    durationMs = 0,
  ): void {
    const { live } = this.#deps
    if (!live.isWatched || payload === undefined) return
    live.outcome(payload, sourceId, { destinationId: this.destination.id, outcome, reason, status, durationMs })
  }

  #load(events: readonly LaneEvent[]): Promise<(StoredEvent | undefined)[]> {
    return storedPayloads(events, this.#deps, (error) => this.#tellOfLog(error))
  }

  #tellOfLog(error: Error): void {
    const fields = { destinationId: this.destination.id, cause: error.message }
    this.#deps.logger.error(fields, 'the log cannot be read')
  }

  #newClient(): LaneClient {
    const { newClient, clock } = this.#deps
    const client = newClient(readsAnswers(this.stages.module) ? { maxAnswerBytes: JUDGED_ANSWER_BYTES } : {})
    return this.stages.module.remote === undefined ? client : new RemoteClient(client, clock)
  }

  #noteVersions(): void {
    const { revision, versionIds } = this.stages
    if (versionIds.length > 0) this.#outcomes.noteVersions(revision, versionIds)
  }
}

function readsAnswers({ classify, batches, remote }: DestinationModule): boolean {
  return classify !== undefined || batches?.outcomes !== undefined || remote !== undefined
}

function waitingPlace({ partition, offset, index, replayed }: LaneEvent) {
  const { replayId = null, letterId = null } = replayed ?? {}
  return { partition, offset, index, replayId, letterId }
}
