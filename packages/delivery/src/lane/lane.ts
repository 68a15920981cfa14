import type { Ended } from '../failure/classify.ts'
import type { ClockReading } from '../failure/give-up.ts'
import { Trouble } from '../failure/trouble.ts'
import type { LaneLimits } from '../limits/destination-limits.ts'
import { LatencyWindow } from '../pace/latency-window.ts'
import type { JourneyWrite } from '../store/outcomes/flush.ts'
import { Alarm } from './alarm.ts'
import { DeliveryAttempts } from './attempts/attempts.ts'
import { Parking } from './attempts/parking.ts'
import { Probing } from './attempts/probing.ts'
import { Retries } from './attempts/retries.ts'
import { CallsInFlight } from './calls-in-flight.ts'
import { passOver, resumedHistory } from './history/delivery-history.ts'
import { OutcomeRecorder } from './history/outcome-recorder.ts'
import type { LaneOptions, LaneSettings } from './lane-options.ts'
import { LaneStatus } from './lane-status.ts'
import { OneByOne } from './one-by-one.ts'
import { Payloads } from './payloads.ts'
import { Preparation } from './preparation.ts'
import { isWaiting, LaneEvent, type Replayed } from './queue/lane-event.ts'
import { LaneQueue } from './queue/lane-queue.ts'
import type { Position } from './queue/position.ts'
import { Progress } from './queue/progress.ts'
import { Sending } from './sending.ts'
import type { Transform } from './transform.ts'

/** Maximum events with their payload in memory. */
const MAX_LOADED = 1_000
const MAX_LOADED_WHEN_MEMORY_IS_SHORT = 16
/** A lane may have so many full batches more in memory. */
const FILLING_BATCHES = 2
/** Maximum events that wait for a retry, or behind one; further events stay in the log. */
const MAX_WAITING = 100_000

/**
 * Delivers the events of one destination: in order per user, as concurrently as the destination tolerates, with retries until
 * each event has its outcome. Lanes of one destination share its limits; nothing else is shared, so one destination's failure does
 * not affect the others.
 *
 * A waiting event is a link and a due time; one timer serves the whole lane.
 *
 * @see contracts/delivery.md §3, §4
 */
export class Lane {
  readonly destinationId: string
  readonly latency = new LatencyWindow()
  readonly status: LaneStatus
  readonly #options: LaneOptions
  #settings: LaneSettings
  readonly #queue = new LaneQueue()
  readonly #payloads: Payloads
  readonly #progress: { partition: number; stream: number; progress: Progress }[] = []
  readonly #calls: CallsInFlight
  readonly #trouble: Trouble
  readonly #limits: LaneLimits
  readonly #recorder: OutcomeRecorder
  readonly #parking: Parking
  readonly #preparation: Preparation
  readonly #retries: Retries
  readonly #attempts: DeliveryAttempts
  readonly #probing: Probing
  readonly #sending: Sending
  readonly #oneByOne: OneByOne
  #disabledSince: number | undefined
  #isStopped = false
  /** Pumps the lane when it rings. */
  readonly #alarm: Alarm

  constructor(options: LaneOptions) {
    this.destinationId = options.destinationId
    this.#options = options
    this.#settings = options.settings
    this.#limits = options.limits.join(options.settings, () => this.#woken(), options.clock.monotonic())
    this.#calls = new CallsInFlight(options.client, this.#limits)
    this.#payloads = new Payloads(options)
    this.#alarm = new Alarm(options.clock, () => this.pump())
    this.#recorder = new OutcomeRecorder(options, options.settings.revision)
    this.#trouble = new Trouble({ ...options, limits: this.#limits, onChange: () => this.#alarm.ringWithin(0) })
    this.#parking = new Parking(this.#recorder, this.#payloads)
    const parts = {
      queue: this.#queue,
      recorder: this.#recorder,
      payloads: this.#payloads,
      parking: this.#parking,
      alarm: this.#alarm,
      calls: this.#calls,
      limits: this.#limits,
      clock: options.clock,
    }
    this.#retries = new Retries({ ...parts, onRetry: options.onRetry })
    const preparing = {
      ...parts,
      sentTogether: () => this.#limits.concurrency * this.#settings.batchEvents,
      onLost: (event: LaneEvent) => {
        this.#recorder.lost(event)
        this.#settled(event)
      },
      onPrepared: () => this.pump(),
    }
    this.#preparation = new Preparation(preparing, options.transform)
    this.#attempts = new DeliveryAttempts({
      ...parts,
      options,
      trouble: this.#trouble,
      latency: this.latency,
      settings: () => this.#settings,
      isStopped: () => this.#isStopped,
      onJudged: () => this.#probing.sweepAfterAttempt(),
      onSettled: (event) => this.#settled(event),
      onRetry: (event, result, waitMs) => this.#retryLater(event, result, waitMs),
      onAborted: (event) => this.#oneByOne.rested(event),
    })
    this.#probing = new Probing({
      ...parts,
      load: (events) => this.#preparation.load(events),
      loadOne: (event) => this.#prepare(event),
      start: (event) => this.#attempts.start(event),
      giveUp: (event, reason) => this.#attempts.giveUp(event, 'delivery', reason),
    })
    this.#sending = new Sending({
      ...parts,
      destinationId: options.destinationId,
      logger: options.logger,
      outcomes: options.outcomes,
      memory: options.memory,
      attempts: this.#attempts,
      preparation: this.#preparation,
      probing: this.#probing,
      retries: this.#retries,
      settings: () => this.#settings,
      leaveMemory: (event) => this.#leaveMemory(event),
      onDelivered: (event) => this.#finish(event),
      onBatchEnded: () => {
        options.onRoom()
        this.pump()
      },
    })
    this.#oneByOne = new OneByOne({
      ...parts,
      attempts: this.#attempts,
      loadOne: (event) => this.#prepare(event),
      leaveMemory: (event) => this.#leaveMemory(event),
      isStopped: () => this.#isStopped,
    })
    this.status = new LaneStatus({
      ...parts,
      sending: this.#sending,
      isEnabled: () => this.#disabledSince === undefined,
    })
    options.outcomes.onPersisted = () => this.pump()
    options.outcomes.positions = () => this.positions()
    options.outcomes.onWaitPersisted = (event) => this.#payloads.waitPersisted(event)
  }

  // Taking up

  /** How many more events the lane accepts now. */
  get room(): number {
    const { batchEvents } = this.#settings
    const usual = batchEvents === 1 ? MAX_LOADED : MAX_LOADED + FILLING_BATCHES * batchEvents
    const most = this.#options.memory.isUsedUp ? MAX_LOADED_WHEN_MEMORY_IS_SHORT : usual
    const waiting = this.#queue.unfinished.size - this.#payloads.count
    return this.#isStopped ? 0 : Math.max(0, Math.min(most - this.#payloads.count, MAX_WAITING - waiting))
  }

  /** Starts to track the position of a stream. @param cursor everything before it has been added. */
  follow(partition: number, stream: number, cursor: () => Position): Progress {
    const progress = new Progress(cursor)
    this.#progress.push({ partition, stream, progress })
    return progress
  }

  *positions() {
    for (const { partition, stream, progress } of this.#progress) {
      yield { partition, stream, position: progress.position() }
    }
  }

  /** Adds an event with its payload. Call `pump` after a batch. */
  add(event: LaneEvent): void {
    this.#probing.sweepFor(event)
    this.#payloads.took(event)
    this.#preparation.add(event)
    const before = this.#enqueue(event)
    if (before.some((earlier) => earlier.payload === undefined)) this.#parking.park(event)
  }

  /** Adds waits from before a restart, and replayed events without payload, in the order of their places. */
  resume(waits: readonly (JourneyWrite & { readonly replayed?: Replayed })[]): void {
    const { now, monotonic } = this.#moment()
    for (const wait of waits) {
      const event = new LaneEvent(wait, wait, undefined, wait.replayed)
      event.hasRow = event.isRecorded = true
      if (wait.attempts > 0) event.history = resumedHistory(wait, now, monotonic)
      this.#enqueue(event)
      if (wait.dueAt === null) continue
      // The wall clock may have jumped: never wait longer than the delay set when the attempt failed.
      this.#retries.wait(event, Math.min(Math.max(0, wait.dueAt - now), Math.max(0, wait.dueAt - wait.at)))
    }
  }

  // Steering

  /** @param transform user code for events that are not yet being sent. */
  configure(settings: LaneSettings, transform: Transform | undefined): void {
    this.#sending.disband()
    this.#limits.configure(settings, this.#options.clock.monotonic())
    this.#settings = settings
    this.#recorder.revision = settings.revision
    this.#preparation.replace(transform)
    this.#alarm.ringWithin(0)
  }

  /** A disabled destination keeps its waiting events; the time does not count against them. */
  setEnabled(isEnabled: boolean): void {
    if (isEnabled === (this.#disabledSince === undefined)) return
    const now = this.#options.clock.monotonic()
    this.#limits.setEnabled(isEnabled, now)
    if (!isEnabled) {
      this.#sending.disband()
      this.#limits.stopWaiting()
      this.#disabledSince = now
      return
    }
    const passed = now - this.#disabledSince!
    this.#disabledSince = undefined
    for (const event of this.#queue.unfinished) passOver(event.history, passed)
    this.#alarm.ringWithin(0)
  }

  /** Holds the events of exactly these sources, whose connections are disabled. */
  holdOnly(sourceIds: ReadonlySet<string>): void {
    this.#sending.disband()
    this.#queue.holdOnly(sourceIds, this.#options.clock.monotonic())
    this.#alarm.ringWithin(0)
  }

  /** Drops all events, or those of a source; the caller records their outcomes. @returns those of the log. */
  discard(sourceId: string | undefined): LaneEvent[] {
    const dropped = this.#drop((event) => sourceId === undefined || event.sourceId === sourceId)
    return dropped.filter(({ replayed }) => replayed === undefined)
  }

  /**
   * Drops waiting events before an offset, except replayed ones; the caller records their outcomes. Those in flight get a row: the
   * position passes them, or a restart would read what was given up behind them again.
   */
  giveUpBefore(partition: number, offset: number): LaneEvent[] {
    const given = this.waiting(partition).filter((event) => event.offset < offset)
    const isGiven = new Set(given)
    this.#drop((event) => isGiven.has(event))
    for (const event of this.#queue.unfinished) {
      const isBefore = event.partition === partition && event.offset < offset
      if (isBefore && event.replayed === undefined && !event.isRecorded) this.#recorder.waits(event, null)
    }
    return given
  }

  /** Drops the events of a cancelled replay. */
  withdraw(replayId: string): void {
    this.#drop(({ replayed }) => replayed?.replayId === replayId)
  }

  #drop(isMeant: (event: LaneEvent) => boolean): LaneEvent[] {
    const dropped = new Set(this.#queue.unfinished.values().filter(isMeant))
    this.#queue.leaveOut(dropped)
    for (const event of dropped) {
      this.#calls.abort(event)
      if (event.state === 'sending') this.#sending.remove(event)
      event.isRecorded = true
      this.#finish(event)
    }
    this.#options.onRoom()
    // An aborted call leaves room for others.
    this.#alarm.ringWithin(0)
    return [...dropped]
  }

  /**
   * Starts no more attempts and waits for those in flight.
   *
   * @param deadline calls unanswered by then are aborted; they are repeated after a restart.
   */
  async stop(deadline: Promise<void>): Promise<void> {
    if (this.#limits.outageState === 'ok') this.#sending.startFilling()
    this.#sending.disband()
    this.#isStopped = true
    this.#calls.returnUnused()
    this.#limits.stopWaiting()
    this.#oneByOne.woken()
    this.#preparation.close()
    this.#alarm.close()
    await this.#calls.settled(deadline)
    this.#limits.close()
    this.#payloads.close(this.#queue.unfinished)
    await this.#options.client.close()
  }

  // One at a time, after the process ended several times

  /** From now on, only `runAlone` sends events. */
  beginAlone(): void {
    this.#oneByOne.begin()
  }

  /** Removes and returns the next ready event, if there is one. Only between `beginAlone` and `endAlone`. */
  takeAlone(): LaneEvent | undefined {
    return this.#isStopped || this.#disabledSince !== undefined ? undefined : this.#oneByOne.take()
  }

  /** Sends one event returned by `takeAlone`, as `OneByOne.run`. */
  runAlone(event: LaneEvent): Promise<void> {
    return this.#oneByOne.run(event)
  }

  /** Returns to normal operation. */
  endAlone(): void {
    this.#oneByOne.end()
    this.#alarm.ringWithin(0)
  }

  // Events

  unfinished(): Iterable<LaneEvent> {
    return this.#queue.unfinished
  }

  /** The events of a partition that can expire now: neither in flight nor replayed. */
  waiting(partition: number): LaneEvent[] {
    const isMeant = (event: LaneEvent) =>
      event.partition === partition && event.replayed === undefined && isWaiting(event)
    return [...this.#queue.unfinished].filter(isMeant)
  }

  /** Number of events with their payload in memory. */
  get loaded(): number {
    return this.#payloads.count
  }

  // Sending

  /** Starts every attempt that may start now. */
  pump(): void {
    if (this.#isStopped || this.#oneByOne.isOn || this.#disabledSince !== undefined) return
    this.#sending.pump()
  }

  /** The limits may let the lane go on. */
  #woken(): void {
    this.#oneByOne.woken()
    this.pump()
  }

  /** Unloads an event: one that may wait for days must not hold memory that ready events need. */
  #leaveMemory(event: LaneEvent): void {
    if (event.payload === undefined) return
    this.#parking.park(event)
    this.#parking.parkFollowers(event)
    this.#options.onRoom()
  }

  #retryLater(event: LaneEvent, result: Ended, waitMs: number): void {
    this.#retries.after([event], result, waitMs)
    this.#options.onRoom()
    this.#oneByOne.rested(event)
    this.pump()
  }

  // Outcomes

  /** Dead-letters an event that cannot be added; the events before and after it are delivered. */
  refuse(event: LaneEvent, error: Error): void {
    if (!this.#queue.unfinished.has(event)) this.#payloads.took(event)
    this.#attempts.fail(event, error)
  }

  #settled(event: LaneEvent): void {
    this.#finish(event)
    this.#options.onRoom()
    this.pump()
  }

  #finish(event: LaneEvent): void {
    this.#queue.finish(event)
    this.#payloads.drop(event)
    this.#payloads.dropHistory(event)
    event.replayed?.onEnd()
    this.#oneByOne.rested(event)
  }

  /** @returns the earlier events that block it. */
  #enqueue(event: LaneEvent): readonly LaneEvent[] {
    return this.#queue.add(event, this.#settings.ordering === 'strict')
  }

  /** @returns whether the event can be sent now. */
  async #prepare(event: LaneEvent): Promise<boolean> {
    return (await this.#preparation.prepare(event)) && !this.#isStopped
  }

  #moment(): ClockReading {
    return { now: this.#options.clock.now(), monotonic: this.#options.clock.monotonic() }
  }
}
