/** At most `limit` events in any `windowSeconds`. */
export interface ThrottleRule {
  readonly limit: number
  readonly windowSeconds: number
}

/**
 * An exact sliding window: an event may go when the one `limit` before it went at least a window ago.
 *
 * @see contracts/delivery.md §4 [D622]
 */
export class Throttle {
  readonly rule: ThrottleRule
  readonly #windowMs: number
  /** Times of the last events, in a ring; as many as there were, at most `limit`. */
  readonly #times: number[] = []
  #next = 0

  constructor(rule: ThrottleRule) {
    this.rule = rule
    this.#windowMs = rule.windowSeconds * 1000
  }

  /** Takes a place at `now` (monotonic). @returns 0 if there was one, else how many ms until there is. */
  take(now: number): number {
    if (this.#times.length < this.rule.limit) {
      this.#times.push(now)
      return 0
    }
    const freeAt = this.#times[this.#next]! + this.#windowMs
    if (freeAt > now) return freeAt - now
    this.#times[this.#next] = now
    this.#next = (this.#next + 1) % this.rule.limit
    return 0
  }
}
