import type { OutageReading, OutageState, Sign } from '../failure/outage.ts'
import type { Failing } from '../lane/attempts/wait-cause.ts'
import type { ThrottleRule } from '../pace/throttle.ts'

/** The configured limits of a destination. */
export interface LimitSettings {
  /** Maximum calls in flight. */
  readonly concurrency: number
  readonly throttle: ThrottleRule | null
  /** Of the destination's configuration; it only grows. */
  readonly revision: number
}

/**
 * The limits of one destination as a whole: throttle, concurrency, breaker, `unauthorised`. All lanes of the destination share them,
 * in one thread or in several.
 *
 * @see contracts/delivery.md §4 [D651]
 */
export interface DestinationLimits {
  /**
   * Adds a lane.
   *
   * @param wake called when a lane that was refused a call, a throttle's place or a probe may try again. It is never called
   *   from inside a call of these interfaces, and may be called without need.
   * @param now by the monotonic clock, which all lanes share.
   */
  join(settings: LimitSettings, wake: () => void, now: number): LaneLimits
}

/** What an attempt says about the destination. */
export interface AttemptNote {
  /** Undefined if it says nothing: the event is at fault, or it is replayed. */
  readonly sign: Sign | undefined
  readonly isDelivered: boolean
  /** When an attempt began that shows that the destination has too much to do. */
  readonly overloadedSince: number | undefined
}

/** The last failed attempt, for people. */
export interface LastFailure {
  readonly status: number
  /** Of the answer, without secrets. */
  readonly text: string
}

/**
 * The limits of a destination as one of its lanes uses them. All methods answer at once. Times are of the monotonic clock.
 *
 * Each lane says what it takes and what it returns; `close` returns the rest. A lane that was refused keeps its turn until it takes
 * what it wanted or calls `stopWaiting`.
 */
export interface LaneLimits {
  /** Takes changed settings over. Settings older than those of another lane change nothing. */
  configure(settings: LimitSettings, now: number): void
  /** A switched off destination has no outage that lasts: that time does not count. */
  setEnabled(isEnabled: boolean, now: number): void

  /** Calls that may be in flight now, of all lanes. */
  readonly concurrency: number
  /** Takes the right to one call, if the breaker is closed. Replays get at most half of all. */
  takeCall(isReplay: boolean): boolean
  /**
   * Returns the right to a call that ended, and takes one for the next, in one step. While others wait, a lane may do so for a
   * few milliseconds; then they have their turn. @returns whether it took one.
   */
  exchangeCall(wasReplay: boolean, isReplay: boolean, now: number): boolean
  returnCall(wasReplay: boolean): void

  /** Takes a place of the throttle's window. Replays get at most half of it. @returns 0, or how many ms to wait. */
  takeThrottle(isReplay: boolean, now: number): number

  /** The lane does not want any longer what it was refused; other lanes may take it. */
  stopWaiting(): void

  readonly outageState: OutageState
  readonly outage: OutageReading
  /** How many ms until a probe may be sent; Infinity: `wake` is called. 0 also if there is no outage any more. */
  probeWaitMs(now: number): number
  /** Takes the right to send the one probe, and to its call. */
  takeProbe(isReplay: boolean, now: number): boolean
  /** Whether this lane has taken the probe. `note` and `endProbe` end that. */
  readonly isProbing: boolean
  /** The probe was not sent. */
  endProbe(): void
  /** Takes an attempt into account; it is the probe if this lane has taken it. @returns whether the outage began or ended. */
  note(attempt: AttemptNote, now: number): boolean

  /** Events that the destination has accepted; counts on from any number. */
  readonly deliveredEvents: number
  countDelivered(): void

  /** @param failing undefined: the destination answers; `null`: that stays as it was. */
  noteFailure(failure: LastFailure, failing: Failing | undefined | null): void
  /** Across threads, only the beginning of its text is kept. */
  readonly lastFailure: LastFailure | undefined
  /** Failures since the last good answer. */
  readonly failing: Failing | undefined

  /** Returns everything that the lane holds. */
  close(): void
}
