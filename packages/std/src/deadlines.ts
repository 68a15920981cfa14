import type { Clock, Timer } from './clock.ts'

/**
 * Many waits of one and the same length, with one timer for all: since every wait is as long as the next, they end in
 * the order in which they began. Starting and ending a wait is a change of two links.
 */
export class Deadlines {
  readonly #clock: Clock
  readonly #lengthMs: number
  /** Head of a ring of waits, oldest first. */
  readonly #ring: Link
  #timer: Timer | undefined

  constructor(clock: Clock, lengthMs: number) {
    this.#clock = clock
    this.#lengthMs = lengthMs
    this.#ring = { due: Number.POSITIVE_INFINITY, onPassed: () => {}, before: undefined!, after: undefined! }
    this.#ring.before = this.#ring.after = this.#ring
  }

  /** @param onPassed called once, `lengthMs` from now, unless the deadline is cleared before. */
  start(onPassed: () => void): Deadline {
    const { before } = this.#ring
    const due = this.#clock.monotonic() + this.#lengthMs
    const deadline: Link = { due, onPassed, before, after: this.#ring }
    before.after = this.#ring.before = deadline
    if (this.#timer === undefined) this.#arm(this.#lengthMs)
    return deadline
  }

  /** Does nothing once the deadline has passed. */
  clear(deadline: Deadline): void {
    const { before, after } = deadline as Link
    before.after = after
    after.before = before
    // What is out of the ring links to itself, so that clearing it again changes nothing.
    ;(deadline as Link).before = (deadline as Link).after = deadline as Link
  }

  /** Forgets every wait; none of them passes any more. */
  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#ring.before = this.#ring.after = this.#ring
  }

  #arm(delayMs: number): void {
    this.#timer = this.#clock.setTimer(() => this.#fire(), delayMs)
  }

  #fire(): void {
    this.#timer = undefined
    const now = this.#clock.monotonic()
    while (this.#ring.after.due <= now) {
      const deadline = this.#ring.after
      this.clear(deadline)
      deadline.onPassed()
    }
    const next = this.#ring.after
    // A callback may have begun a new wait, and armed the timer with it.
    if (next !== this.#ring && this.#timer === undefined) this.#arm(next.due - now)
  }
}

export interface Deadline {
  readonly due: number
}

interface Link extends Deadline {
  readonly onPassed: () => void
  before: Link
  after: Link
}
