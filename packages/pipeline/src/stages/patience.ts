import type { Clock } from '@millrace/std'
import type { Starved } from '@millrace/transformations'

/** Maximum duration. */
const PATIENCE_MS = 300_000

/**
 * Of an event with an overloaded machine: while it lasts, runs that the machine did not let finish are repeated, and are no
 * faults. Endless code has such runs too. So patience ends once they have together computed for as long as one run may.
 */
export class Patience {
  readonly #clock: Clock
  readonly #until: number
  #computedShare = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#until = clock.monotonic() + PATIENCE_MS
  }

  get isOver(): boolean {
    return this.#computedShare >= 1 || this.#clock.monotonic() >= this.#until
  }

  use({ computedShare }: Starved): void {
    this.#computedShare += computedShare
  }

  end(): void {
    this.#computedShare = 1
  }
}
