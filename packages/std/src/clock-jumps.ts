import type { Clock } from './clock.ts'

const JUMP_MS = 3_600_000
const SUSPENSION_MS = 24 * 3_600_000

/**
 * Notices jumps of the wall clock: between two looks it went by over an hour more or less than the monotonic one. Ages
 * by the wall clock are not to be trusted for a day then.
 */
export class ClockJumps {
  readonly #clock: Clock
  /** Wall clock less monotonic clock; the same as long as nobody sets the wall clock. */
  #difference: number
  #lastJumpAt = Number.NEGATIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
    this.#difference = clock.now() - clock.monotonic()
  }

  hadOneLately(): boolean {
    const monotonic = this.#clock.monotonic()
    const difference = this.#clock.now() - monotonic
    if (Math.abs(difference - this.#difference) > JUMP_MS) this.#lastJumpAt = monotonic
    this.#difference = difference
    return monotonic - this.#lastJumpAt < SUSPENSION_MS
  }
}
