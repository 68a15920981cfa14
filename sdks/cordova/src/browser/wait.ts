import type { Clock } from '../core/clock.ts'
import type { NoAnswer } from './sender.ts'

const FIRST_MS = 3_000
const LONGEST_MS = 300_000

/** How long to leave the server alone, by the monotonic clock. @see contracts/cordova-sdk.md §15.5 */
export class Wait {
  private readonly clock: Clock
  private readonly random: () => number
  private failures = 0
  private until = Number.NEGATIVE_INFINITY
  private retryAfterUntil = Number.NEGATIVE_INFINITY
  private outcome: NoAnswer = 'RETRY_LATER'

  constructor(clock: Clock, random: () => number) {
    this.clock = clock
    this.random = random
  }

  /** After a failure. @param retryAfterMs the server's wish: a minimum. @returns the wait. */
  failed(outcome: NoAnswer, retryAfterMs: number): number {
    const most = Math.min(FIRST_MS * 2 ** this.failures, LONGEST_MS)
    this.failures++
    return this.set(outcome, most * (0.5 + this.random() / 2), retryAfterMs)
  }

  /** @returns the longest wait, which now runs. */
  longest(): number {
    return this.set('RETRY_LATER', LONGEST_MS, 0)
  }

  reset(): void {
    this.failures = 0
    this.until = Number.NEGATIVE_INFINITY
    this.retryAfterUntil = Number.NEGATIVE_INFINITY
  }

  /** What is left. @param force does not wait for chance, only for what the server asked. */
  left(force: boolean): { outcome: NoAnswer; retryAfterMs: number } | undefined {
    const until = force ? this.retryAfterUntil : Math.max(this.until, this.retryAfterUntil)
    const retryAfterMs = until - this.clock.monotonic()
    return retryAfterMs > 0 ? { outcome: this.outcome, retryAfterMs } : undefined
  }

  private set(outcome: NoAnswer, waitMs: number, retryAfterMs: number): number {
    const now = this.clock.monotonic()
    this.outcome = outcome
    this.until = now + waitMs
    this.retryAfterUntil = now + retryAfterMs
    return Math.max(waitMs, retryAfterMs)
  }
}
