import type { Clock } from '@millrace/std'
import { allGivenUpInOutage } from '../failure/give-up.ts'
import { GIVE_UP_AFTER_MS } from '../failure/retry-schedule.ts'
import type { Trouble } from '../failure/trouble.ts'
import type { Alarm } from './alarm.ts'
import type { CallsInFlight } from './calls-in-flight.ts'
import { isWaiting, type LaneEvent } from './lane-event.ts'
import type { LaneQueue } from './lane-queue.ts'
import { LOADED_TOGETHER, type Payloads } from './payloads.ts'

/** Parts of a lane that probing uses. */
export interface ProbingDeps {
  readonly queue: LaneQueue
  readonly trouble: Trouble
  readonly payloads: Payloads
  readonly calls: CallsInFlight
  readonly alarm: Alarm
  readonly clock: Clock
  readonly load: (events: readonly LaneEvent[]) => Promise<void>
  /** @returns whether the event can be sent now. */
  readonly loadOne: (event: LaneEvent) => Promise<boolean>
  readonly start: (event: LaneEvent) => void
  readonly giveUp: (event: LaneEvent, reason: string) => void
}

/** What a lane does during an outage: it sends one event when a probe is due, and gives up events that waited too long. */
export class Probing {
  readonly #deps: ProbingDeps
  /** Some event may have exceeded its retry limit since the last sweep. */
  #isSweepDue = false
  #isGivingUp = false

  constructor(deps: ProbingDeps) {
    this.#deps = deps
  }

  /** An attempt was judged: events may have reached their limit. */
  sweepAfterAttempt(): void {
    this.#isSweepDue = true
  }

  /** An event was added to the lane. */
  sweepFor({ acceptedAt }: LaneEvent): void {
    if (this.#deps.trouble.outage.state === 'ok') return
    this.#isSweepDue ||= this.#deps.clock.now() - acceptedAt >= GIVE_UP_AFTER_MS
  }

  /** Sends the first waiting event when a probe is due, and gives up events beyond their retry limit. */
  probe(): void {
    this.#giveUpWaiting()
    if (this.#isGivingUp || this.#deps.trouble.isProbing || this.#deps.calls.count > 0) return
    const waitMs = this.#deps.trouble.outage.nextProbe - this.#deps.clock.monotonic()
    if (waitMs > 0) {
      this.#deps.alarm.ringWithin(waitMs)
      return
    }
    const first = this.#deps.queue.earliest()
    if (first === undefined) return
    this.#deps.trouble.isProbing = true
    this.#deps.queue.stopWaiting(first)
    first.state = 'loading'
    void this.#deps.loadOne(first).then((isReady) => {
      if (isReady) {
        this.#deps.start(first)
      } else {
        this.#deps.trouble.isProbing = false
        if (first.state === 'loading') this.#deps.queue.putBack(first)
        this.#deps.alarm.ringWithin(0)
      }
    })
  }

  /** During an outage: dead-letters the events that exceeded their retry limit, after reading their payloads. */
  #giveUpWaiting(): void {
    if (!this.#isSweepDue || this.#isGivingUp || this.#deps.payloads.isLoading) return
    const { clock } = this.#deps
    const given = allGivenUpInOutage(
      this.#deps.queue,
      this.#deps.trouble.outage,
      { now: clock.now(), monotonic: clock.monotonic() },
      LOADED_TOGETHER,
    )
    this.#isSweepDue = given.length > 0
    if (given.length === 0) return
    this.#isGivingUp = true
    void this.#deps.load(given.map(({ event }) => event)).then(() => {
      for (const { event, reason } of given) {
        // The outage may have ended in the meantime.
        if (this.#deps.trouble.outage.state === 'ok') break
        if (isWaiting(event) && event.payload !== undefined) this.#deps.giveUp(event, reason)
      }
      this.#isGivingUp = false
      this.#deps.alarm.ringWithin(0)
    })
  }
}
