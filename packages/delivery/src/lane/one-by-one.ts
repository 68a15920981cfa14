import type { Clock } from '@millrace/std'
import type { LaneLimits } from '../limits/destination-limits.ts'
import type { DeliveryAttempts } from './attempts/attempts.ts'
import type { Parking } from './attempts/parking.ts'
import type { CallsInFlight } from './calls-in-flight.ts'
import type { LaneEvent } from './queue/lane-event.ts'
import type { LaneQueue } from './queue/lane-queue.ts'

/** Parts of a lane that are used while its events run one at a time. */
export interface OneByOneDeps {
  readonly queue: LaneQueue
  readonly limits: LaneLimits
  readonly calls: CallsInFlight
  readonly attempts: DeliveryAttempts
  readonly parking: Parking
  readonly clock: Clock
  /** @returns whether the event can be sent now. */
  readonly loadOne: (event: LaneEvent) => Promise<boolean>
  /** Unloads an event whose connection is disabled. */
  readonly leaveMemory: (event: LaneEvent) => void
  readonly isStopped: () => boolean
}

/** Sends the events of a lane one at a time, after the process ended several times. */
export class OneByOne {
  readonly #deps: OneByOneDeps
  #isOn = false
  /** Events that `take` removed from the queue and that are not finished. */
  readonly #aside: LaneEvent[] = []
  #onAtRest: ((event: LaneEvent) => void) | undefined
  #onWoken: () => void = () => {}

  constructor(deps: OneByOneDeps) {
    this.#deps = deps
  }

  /** Events are sent only by `run`. */
  get isOn(): boolean {
    return this.#isOn
  }

  begin(): void {
    this.#isOn = true
  }

  /** Removes and returns the next ready event, if there is one. */
  take(): LaneEvent | undefined {
    const { queue, clock, leaveMemory } = this.#deps
    queue.takeDueRetries(clock.monotonic())
    for (;;) {
      const event = queue.takeReady(true)
      if (event === undefined || !queue.hold(event)) return event
      leaveMemory(event)
    }
  }

  /**
   * Sends one event returned by `take`; resolves when it is finished or waits for a retry. If the destination is in an outage, or its
   * throttle is used up, the event is prepared but not sent, so that user code and destination code have run.
   */
  async run(event: LaneEvent): Promise<void> {
    const { limits, calls, attempts, parking, clock, isStopped } = this.#deps
    event.state = 'loading'
    if (!(await this.#deps.loadOne(event))) {
      // An event that could not be loaded keeps its state; a lost event is finished.
      if (event.state === 'loading') this.#setAside(event)
      return
    }
    const isReplay = event.replayed !== undefined
    const mayCall = await this.#mayCall(isReplay)
    const isThrottled = mayCall && limits.takeThrottle(isReplay, clock.monotonic()) > 0
    if (isStopped() || !mayCall || isThrottled || limits.outageState !== 'ok') {
      if (mayCall) limits.returnCall(isReplay)
      if (isStopped()) return
      parking.park(event)
      this.#setAside(event)
      return
    }
    const atRest = new Promise<void>((resolve) => {
      this.#onAtRest = (rested) => {
        if (rested === event) resolve()
      }
    })
    calls.takeOver(event)
    attempts.start(event)
    calls.returnUnused()
    await atRest
    this.#onAtRest = undefined
  }

  /** Back to normal operation. */
  end(): void {
    for (const event of this.#aside.splice(0).reverse()) if (event.state === 'ready') this.#deps.queue.putBack(event)
    this.#isOn = false
  }

  /** An event is finished, or waits. */
  rested(event: LaneEvent): void {
    this.#onAtRest?.(event)
  }

  /** The limits may let an event go, or the lane has stopped. */
  woken(): void {
    this.#onWoken()
  }

  /** Waits for a call that other lanes leave. @returns false in an outage, and once the lane has stopped. */
  async #mayCall(isReplay: boolean): Promise<boolean> {
    const { limits, isStopped } = this.#deps
    while (!limits.takeCall(isReplay)) {
      if (limits.outageState !== 'ok' || isStopped()) return false
      await new Promise<void>((resolve) => {
        this.#onWoken = resolve
      })
    }
    return true
  }

  #setAside(event: LaneEvent): void {
    event.state = 'ready'
    this.#aside.push(event)
  }
}
