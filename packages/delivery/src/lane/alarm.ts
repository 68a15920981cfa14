import type { Clock, Timer } from '@millrace/std'

/** One timer for many: it rings at the earliest time that anybody asked for, and then everybody looks again. */
export class Alarm {
  readonly #clock: Clock
  readonly #onRing: () => void
  #timer: Timer | undefined
  /** Of the timer, by the monotonic clock. */
  #due = 0
  #isClosed = false

  constructor(clock: Clock, onRing: () => void) {
    this.#clock = clock
    this.#onRing = onRing
  }

  /** Rings once so much time has passed, or before. */
  ringWithin(delayMs: number): void {
    if (this.#isClosed) return
    const due = this.#clock.monotonic() + delayMs
    if (this.#timer !== undefined && this.#due <= due) return
    this.#timer?.cancel()
    this.#due = due
    this.#timer = this.#clock.setTimer(() => {
      this.#timer = undefined
      this.#onRing()
    }, delayMs)
  }

  /** It never rings again. */
  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
  }
}
