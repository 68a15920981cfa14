const FIRST_LEVEL = 8

/**
 * How many calls may be in flight: grows by one per full round of delivered requests, is halved when the destination
 * says or shows that it is too much. Calls that began before a halving do not halve again.
 *
 * @see contracts/delivery.md §4 [D640]
 */
export class ConcurrencyLevel {
  #highest: number
  #level: number
  #deliveredInRound = 0
  #halvedAt = Number.NEGATIVE_INFINITY

  constructor(highest: number) {
    this.#highest = highest
    this.#level = Math.min(FIRST_LEVEL, highest)
  }

  get current(): number {
    return this.#level
  }

  setHighest(highest: number): void {
    this.#highest = highest
    this.#level = Math.min(this.#level, highest)
  }

  delivered(): void {
    if (++this.#deliveredInRound < this.#level) return
    this.#deliveredInRound = 0
    if (this.#level < this.#highest) this.#level++
  }

  /** @param startedAt when the call began, by the same clock as `now`. */
  overloaded(startedAt: number, now: number): void {
    if (startedAt < this.#halvedAt) return
    this.#halvedAt = now
    this.#deliveredInRound = 0
    this.#level = Math.max(1, Math.floor(this.#level / 2))
  }
}
