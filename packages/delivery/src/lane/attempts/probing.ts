import type { Clock } from '@millrace/std'
import { allGivenUpInOutage } from '../../failure/give-up.ts'
import { GIVE_UP_AFTER_MS } from '../../failure/retry-schedule.ts'
import type { LaneLimits } from '../../limits/destination-limits.ts'
import type { Alarm } from '../alarm.ts'
import type { CallsInFlight } from '../calls-in-flight.ts'
import { LOADED_TOGETHER, type Payloads } from '../payloads.ts'
import { isWaiting, type LaneEvent } from '../queue/lane-event.ts'
import type { LaneQueue } from '../queue/lane-queue.ts'

/** Parts of a lane that probing uses. */
export interface ProbingDeps {
  readonly queue: LaneQueue
  readonly limits: LaneLimits
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
    if (this.#deps.limits.outageState === 'ok') return
    this.#isSweepDue ||= this.#deps.clock.now() - acceptedAt >= GIVE_UP_AFTER_MS
  }

  /** Sends the first waiting event when a probe is due, and gives up events beyond their retry limit. */
  probe(): void {
    this.#giveUpWaiting()
    if (this.#isGivingUp) return
    const { limits, calls, alarm, queue, clock } = this.#deps
    const now = clock.monotonic()
    const waitMs = limits.probeWaitMs(now)
    if (waitMs > 0) {
      // Without a time, the limits wake the lane.
      if (waitMs < Number.POSITIVE_INFINITY) alarm.ringWithin(waitMs)
      return
    }
    const first = queue.earliest()
    if (first === undefined) return
    const isReplay = first.replayed !== undefined
    if (!limits.takeProbe(isReplay, now)) {
      // Another lane was faster, or has ended the outage.
      alarm.ringWithin(0)
      return
    }
    queue.stopWaiting(first)
    first.state = 'loading'
    void this.#deps.loadOne(first).then((isReady) => {
      if (isReady) {
        calls.takeOver(first)
        this.#deps.start(first)
        calls.returnUnused()
      } else {
        limits.endProbe()
        limits.returnCall(isReplay)
        if (first.state === 'loading') queue.putBack(first)
        alarm.ringWithin(0)
      }
    })
  }

  /** During an outage: dead-letters the events that exceeded their retry limit, after reading their payloads. */
  #giveUpWaiting(): void {
    if (!this.#isSweepDue || this.#isGivingUp || this.#deps.payloads.isLoading) return
    const { clock } = this.#deps
    const given = allGivenUpInOutage(
      this.#deps.queue,
      this.#deps.limits.outage,
      { now: clock.now(), monotonic: clock.monotonic() },
      LOADED_TOGETHER,
    )
    this.#isSweepDue = given.length > 0
    if (given.length === 0) return
    this.#isGivingUp = true
    void this.#deps.load(given.map(({ event }) => event)).then(() => {
      for (const { event, reason } of given) {
        // The outage may have ended in the meantime.
        if (this.#deps.limits.outageState === 'ok') break
        if (isWaiting(event) && event.payload !== undefined) this.#deps.giveUp(event, reason)
      }
      this.#isGivingUp = false
      this.#deps.alarm.ringWithin(0)
    })
  }
}
