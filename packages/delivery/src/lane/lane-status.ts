import type { Clock } from '@millrace/std'
import type { Waiting } from '@millrace/wording'
import type { OutageState } from '../failure/outage.ts'
import type { LaneLimits } from '../limits/destination-limits.ts'
import { eventWait, type LaneSituation, laneWait } from './attempts/wait-cause.ts'
import type { CallsInFlight } from './calls-in-flight.ts'
import type { LaneEvent } from './queue/lane-event.ts'
import type { LaneQueue } from './queue/lane-queue.ts'
import type { Sending } from './sending.ts'

interface LaneStatusDeps {
  readonly queue: LaneQueue
  readonly calls: CallsInFlight
  readonly limits: LaneLimits
  readonly sending: Sending
  readonly clock: Clock
  readonly isEnabled: () => boolean
}

/** What people are shown of a lane at this moment. */
export class LaneStatus {
  readonly #deps: LaneStatusDeps

  constructor(deps: LaneStatusDeps) {
    this.#deps = deps
  }

  /** The internal fault that currently stops the lane, if any. */
  get fault(): string | undefined {
    return this.#deps.sending.fault
  }

  /** Events in calls that have no answer yet. */
  get inFlight(): number {
    return this.#deps.calls.events
  }

  get unfinishedCount(): number {
    return this.#deps.queue.unfinished.size
  }

  /** Stored bytes of all unfinished events. */
  get unfinishedBytes(): number {
    return this.#deps.queue.unfinishedBytes
  }

  /** Number of events in each kind of wait, and the id with the most blocked events; O(1). */
  get counts() {
    const { queue } = this.#deps
    const { unfinished, retrying, blocked } = queue
    const ready = unfinished.size - retrying - blocked.count
    const [oldest] = unfinished
    const { hottest } = blocked
    return {
      ready,
      unsent: ready - this.inFlight,
      retrying,
      blocked: blocked.count,
      blockedUsers: blocked.users,
      /** The event that was added first. */
      oldestAcceptedAt: oldest?.acceptedAt ?? Number.POSITIVE_INFINITY,
      hottest: hottest && { ...hottest, event: queue.lastOf(hottest.key) },
    }
  }

  get concurrency(): number {
    return this.#deps.limits.concurrency
  }

  get outageState(): OutageState {
    return this.#deps.limits.outageState
  }

  get isThrottled(): boolean {
    return this.#deps.sending.isThrottled
  }

  /** Status and text of the last failed attempt. */
  get lastFailure(): { status: number; text: string } | undefined {
    return this.#deps.limits.lastFailure
  }

  /** The displayed outcome of an unfinished event. */
  outcomeOf({ state }: LaneEvent): 'pending' | 'blocked' | 'throttled' | 'retrying' {
    if (state === 'blocked' || state === 'retrying') return state
    return state === 'ready' && this.isThrottled ? 'throttled' : 'pending'
  }

  /** Why the whole lane waits; undefined if it does not. */
  get wait(): Waiting | undefined {
    return laneWait(this.#situation())
  }

  /** Why an unfinished event waits, or (undefined) one that is still in the log. */
  waitOf(event: LaneEvent | undefined): Waiting {
    return eventWait(event, event !== undefined && this.#deps.queue.isHeld(event), this.#situation())
  }

  #situation(): LaneSituation {
    const { queue, limits, clock, isEnabled } = this.#deps
    const now = clock.now()
    const monotonic = clock.monotonic()
    return {
      isEnabled: isEnabled(),
      isThrottled: this.isThrottled,
      outage: limits.outage,
      failing: limits.failing,
      nextRetry: queue.nextRetry(),
      wallTime: (at) => now + at - monotonic,
    }
  }
}
