import { FairShares } from '../limits/fair-shares.ts'
import { type EventWindow, ExactWindow } from './event-window.ts'

/** At most `limit` events in any `windowSeconds`. */
export interface ThrottleRule {
  readonly limit: number
  readonly windowSeconds: number
}

/**
 * A sliding window: an event may go when the one `limit` before it went at least a window ago. Lanes that wait share the places
 * that become free.
 *
 * @see contracts/delivery.md §4 [D622]
 */
export class Throttle {
  readonly rule: ThrottleRule
  readonly #windowMs: number
  readonly #window: EventWindow
  /** A place is held until its event has left the window. */
  readonly #places: FairShares

  constructor(rule: ThrottleRule, window: EventWindow = new ExactWindow(), places: FairShares = new FairShares()) {
    this.rule = rule
    this.#windowMs = rule.windowSeconds * 1000
    this.#window = window
    this.#places = places
  }

  /**
   * Takes a place at `now` (monotonic).
   *
   * @param most of a window, for an event that leaves the rest to others. Such an event does not wait in turn.
   * @returns 0 if there was one, else how many ms until there may be.
   */
  take(now: number, most = this.rule.limit, lane = 0): number {
    const places = this.#places
    const at = Math.max(now, this.#window.last)
    this.#window.removeGone(at, this.#windowMs, this.#onGone)
    const isWhole = most === this.rule.limit
    if (isWhole ? places.mayTake(lane, most) : places.total + places.othersWaiting(lane) < most) {
      this.#window.add(at, lane, this.rule)
      places.take(lane)
      return 0
    }
    if (isWhole) places.wait(lane)
    if (places.total === 0) return this.#windowMs
    return this.#window.timeBefore(most - 1) + this.#windowMs - now
  }

  /** Lanes other than `lane` that wait and may take a place now. */
  mayGoOn(lane: number): Iterable<number> {
    return this.#places.mayGoOn(lane, this.rule.limit)
  }

  readonly #onGone = (lane: number, events: number) => this.#places.giveBack(lane, events)
}
