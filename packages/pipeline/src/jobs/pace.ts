import type { Clock } from '@millrace/std'

/** Spreads work evenly over time: it never exceeds the rate, not even at the start. */
export class Pace {
  readonly #clock: Clock
  #perSecond: number
  #next = Number.NEGATIVE_INFINITY

  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock
    this.#perSecond = perSecond
  }

  /** Holds for the events that are booked from now on. */
  set perSecond(perSecond: number) {
    this.#perSecond = perSecond
  }

  /** Reserves time for this many events. @returns the wait until then, in ms. */
  book(count: number): number {
    const now = this.#clock.monotonic()
    const at = Math.max(now, this.#next)
    this.#next = at + (count * 1000) / this.#perSecond
    return at - now
  }
}
