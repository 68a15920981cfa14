import type { Clock } from '@millrace/std'

const FREE_FAILURES = 100
const WINDOW_MS = 60_000
const MAX_ADDRESSES = 10_000

/**
 * Counts failed sign-ins by address and decides when to delay their answers. The window of an address is a minute from
 * its first failure; above the maximum of addresses, the oldest is forgotten.
 *
 * @see contracts/decisions.md [D7]
 */
export class FailureBrake {
  readonly #clock: Clock
  readonly #windows = new Map<string, { since: number; failures: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts one failure. @returns whether its answer must wait. */
  fail(address: string): boolean {
    const now = this.#clock.monotonic()
    let window = this.#windows.get(address)
    if (window === undefined || now - window.since >= WINDOW_MS) {
      this.#windows.delete(address)
      if (this.#windows.size >= MAX_ADDRESSES) this.#windows.delete(this.#windows.keys().next().value!)
      window = { since: now, failures: 0 }
      this.#windows.set(address, window)
    }
    window.failures++
    return window.failures > FREE_FAILURES
  }
}
