import type { Clock, Timer } from '@millrace/std'

const WINDOW_MS = 60_000
const MAX_PER_KEY = 10
const MAX_TOTAL = 100

/**
 * Keeps repeated actions of strangers from filling the audit log: for each key, such as an address, 10 entries a
 * minute, 100 in all. The others are counted in one entry at the end of the minute.
 */
export class EntryCap {
  readonly #clock: Clock
  readonly #onLeftOut: (count: number) => void
  /** Keys that have an entry, so at most 100. */
  readonly #counts = new Map<string, number>()
  #since = Number.NEGATIVE_INFINITY
  #total = 0
  #leftOut = 0
  #timer: Timer | undefined

  constructor(clock: Clock, onLeftOut: (count: number) => void) {
    this.#clock = clock
    this.#onLeftOut = onLeftOut
  }

  /** @returns whether this action gets its own entry. */
  admits(key: string): boolean {
    const now = this.#clock.monotonic()
    if (now - this.#since >= WINDOW_MS) {
      this.end()
      this.#since = now
    }
    const count = this.#counts.get(key) ?? 0
    if (count < MAX_PER_KEY && this.#total < MAX_TOTAL) {
      this.#counts.set(key, count + 1)
      this.#total++
      return true
    }
    this.#leftOut++
    this.#timer ??= this.#clock.setTimer(() => this.end(), this.#since + WINDOW_MS - now)
    return false
  }

  /** Ends the minute now. */
  end(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    if (this.#leftOut > 0) this.#onLeftOut(this.#leftOut)
    this.#leftOut = this.#total = 0
    this.#counts.clear()
    this.#since = Number.NEGATIVE_INFINITY
  }
}
