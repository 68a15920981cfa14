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

  /**
   * Takes a place at `now` (monotonic).
   *
   * @param most of a window, for one that leaves the rest to others.
   * @returns 0 if there was one, else how many ms until there is.
   */
  take(now: number, most = this.rule.limit): number {
    const { limit } = this.rule
    const isFull = this.#times.length === limit
    // The one that went `most` places before.
    const at = isFull ? (this.#next - most + limit) % limit : this.#times.length - most
    if (at >= 0) {
      const freeAt = this.#times[at]! + this.#windowMs
      if (freeAt > now) return freeAt - now
    }
    if (!isFull) this.#times.push(now)
    else {
      this.#times[this.#next] = now
      this.#next = (this.#next + 1) % limit
    }
    return 0
  }
}
