import type { Clock } from '@millrace/std'

/** Keys that were added lately; each is remembered for at least the given time. */
export class SeenLately {
  readonly #clock: Clock
  readonly #keepMs: number
  #newer = new Set<string>()
  #older = new Set<string>()
  #turnedAt = 0

  constructor(clock: Clock, keepMs: number) {
    this.#clock = clock
    this.#keepMs = keepMs
    this.#turnedAt = clock.monotonic()
  }

  /** @returns whether the key is new. */
  add(key: string): boolean {
    const now = this.#clock.monotonic()
    if (now - this.#turnedAt >= this.#keepMs) {
      this.#older = this.#newer
      this.#newer = new Set()
      this.#turnedAt = now
    }
    if (this.#newer.has(key) || this.#older.has(key)) return false
    this.#newer.add(key)
    return true
  }
}
