import type { Clock, Timer } from '@millrace/std'

/** One timer for many waits: it rings at the earliest requested time, and then all callers check again. */
export class Alarm {
  readonly #clock: Clock
  readonly #onRing: () => void
  #timer: Timer | undefined
  /** Due time of the timer, by the monotonic clock. */
  #due = 0
  #isClosed = false

  constructor(clock: Clock, onRing: () => void) {
    this.#clock = clock
    this.#onRing = onRing
  }

  /** Rings after `delayMs` at the latest. */
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

  /** Stops the timer for good. */
  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
  }
}
