import type { LaneLimits } from '../limits/destination-limits.ts'
import type { Alarm } from './alarm.ts'
import type { DeliveryAttempts } from './attempts/attempts.ts'
import type { Probing } from './attempts/probing.ts'
import type { Retries } from './attempts/retries.ts'
import { BatchAttempts } from './batches/batch-attempts.ts'
import { Batching } from './batches/batching.ts'
import type { CallsInFlight } from './calls-in-flight.ts'
import type { OutcomeRecorder } from './history/outcome-recorder.ts'
import type { LaneOptions, LaneSettings } from './lane-options.ts'
import type { Payloads } from './payloads.ts'
import type { Preparation } from './preparation.ts'
import type { LaneEvent } from './queue/lane-event.ts'
import type { LaneQueue } from './queue/lane-queue.ts'

/** Wait after an internal fault outside of any event. */
const AFTER_FAULT_MS = 1_000

/** Parts of a lane that sending uses. */
export interface SendingDeps extends Pick<LaneOptions, 'destinationId' | 'clock' | 'outcomes' | 'memory' | 'logger'> {
  readonly queue: LaneQueue
  readonly calls: CallsInFlight
  readonly limits: LaneLimits
  readonly alarm: Alarm
  readonly recorder: OutcomeRecorder
  readonly payloads: Payloads
  readonly attempts: DeliveryAttempts
  readonly preparation: Preparation
  readonly probing: Probing
  readonly retries: Retries
  readonly settings: () => LaneSettings
  /** Unloads an event whose connection is disabled. */
  readonly leaveMemory: (event: LaneEvent) => void
  /** An event of a batch is delivered. */
  readonly onDelivered: (event: LaneEvent) => void
  readonly onBatchEnded: () => void
}

/** Starts attempts in the order of the queue, as far as calls, throttle and breaker let it: event by event, or in batches. */
export class Sending {
  readonly #deps: SendingDeps
  readonly #batching: Batching
  #isPumping = false
  #isThrottled = false
  /** Other lanes of the destination have all calls. */
  #isRefused = false
  #fault: string | undefined

  constructor(deps: SendingDeps) {
    this.#deps = deps
    this.#batching = this.#newBatching()
  }

  get isThrottled(): boolean {
    return this.#isThrottled
  }

  /** The last internal fault outside of any event; undefined once it has passed. */
  get fault(): string | undefined {
    return this.#fault
  }

  /** Starts every attempt that may start now. Never throws: a fault here must not reach other lanes. */
  pump(): void {
    if (this.#isPumping) return
    const { calls, alarm, destinationId, logger } = this.#deps
    this.#isPumping = true
    try {
      this.#pump()
      this.#fault = undefined
    } catch (error) {
      if (this.#fault === undefined) logger.error({ destinationId, err: error }, 'delivery to a destination failed')
      this.#fault = (error as Error).message
      alarm.ringWithin(AFTER_FAULT_MS)
    } finally {
      this.#isPumping = false
      calls.returnUnused()
    }
  }

  /** As `Batching.disband`. */
  disband(): void {
    this.#batching.disband()
  }

  /** Removes an event that is dropped from the batch that it joined. */
  remove(event: LaneEvent): void {
    this.#batching.remove(event)
  }

  /** Starts the batches that fill, as far as there are calls: the lane is about to stop. */
  startFilling(): void {
    this.#batching.startAll()
  }

  #pump(): void {
    const { queue, calls, limits, alarm, clock, preparation, probing, settings } = this.#deps
    preparation.run()
    if (limits.outageState !== 'ok') {
      this.#batching.disband()
      calls.returnUnused()
      limits.stopWaiting()
      probing.probe()
      return
    }
    const now = clock.monotonic()
    const nextDue = queue.takeDueRetries(now)
    if (nextDue !== undefined) alarm.ringWithin(nextDue - now)
    this.#isThrottled = this.#isRefused = false
    if (settings().batchEvents > 1) this.#batching.pump(now)
    else this.#startReady(now)
    if (!this.#isThrottled && !this.#isRefused) limits.stopWaiting()
  }

  #startReady(now: number): void {
    const { queue, calls, attempts } = this.#deps
    while (calls.mayAdd) {
      const event = this.#takeReady()
      if (event === undefined) break
      if (!calls.reserve(event, now)) {
        queue.putBack(event)
        this.#isRefused = true
        break
      }
      const waitMs = this.#throttleMs(event, now)
      if (waitMs > 0) {
        queue.putBack(event)
        this.#throttled(waitMs)
        break
      }
      attempts.start(event)
    }
  }

  /** Removes the next event that can be sent now from the queue. */
  #takeReady(): LaneEvent | undefined {
    const { outcomes, queue, calls, preparation, leaveMemory } = this.#deps
    while (outcomes.hasRoom()) {
      const event = queue.takeReady(calls.mayReplay)
      if (event === undefined) return undefined
      if (queue.hold(event)) {
        leaveMemory(event)
      } else if (event.payload === undefined) {
        queue.putBack(event)
        void preparation.loadReady()
        return undefined
      } else if (preparation.isPrepared(event)) {
        return event
      } else {
        event.state = 'transforming'
      }
    }
    return undefined
  }

  #throttled(waitMs: number): void {
    this.#isThrottled = true
    this.#deps.alarm.ringWithin(waitMs)
  }

  /** How long an event has to wait for the throttle; 0 if it took its place. */
  #throttleMs({ replayed }: LaneEvent, now: number): number {
    return this.#deps.limits.takeThrottle(replayed !== undefined, now)
  }

  #newBatching(): Batching {
    const { calls, payloads, preparation, retries, settings, onDelivered, onBatchEnded } = this.#deps
    const batches = new BatchAttempts({
      ...this.#deps,
      onDelivered: (events) => {
        for (const event of events) onDelivered(event)
      },
      onRetry: (events, result, waitMs) => retries.after(events, result, waitMs),
      throttleMs: (event, now) => this.#throttleMs(event, now),
      onThrottled: (waitMs) => this.#throttled(waitMs),
      onUnsent: (events) => this.#putBackUnsent(events),
      onEnd: () => {
        // A batch that ends inside of `pump` had no call.
        if (!this.#isPumping) calls.endBatch()
        onBatchEnded()
      },
    })
    return new Batching({
      ...this.#deps,
      batches,
      batchEvents: () => settings().batchEvents,
      next: () => this.#takeReady(),
      isLoadedAndPrepared: (event) => event.payload !== undefined && preparation.isPrepared(event),
      loadBlocked: async (events) => {
        await payloads.load(events)
        for (const event of events) preparation.add(event)
      },
      throttleMs: (event, now) => this.#throttleMs(event, now),
      onThrottled: (waitMs) => this.#throttled(waitMs),
      onRefused: () => {
        this.#isRefused = true
      },
    })
  }

  /** Delivered requests are recorded, so that they are not sent again. */
  #putBackUnsent(events: readonly LaneEvent[]): void {
    const { queue, recorder } = this.#deps
    for (const event of events.toReversed()) {
      queue.putBackUnsent(event)
      if (event.history !== undefined) recorder.waits(event, null)
    }
  }
}
