import type { Clock } from '../core/clock.ts'

export type NoAnswer = 'CSP_BLOCKED' | 'OFFLINE' | 'RETRY_LATER'

const FIRST_MS = 3_000
const MAX_MS = 300_000

export interface Waiting {
  readonly outcome: NoAnswer
  readonly retryAfterMs: number
}

export type Wait = ReturnType<typeof newWait>

/** How long to leave the server alone, by the monotonic clock. @see contracts/cordova-sdk.md §15.5 */
export function newWait(clock: Clock, random: () => number) {
  let failures = 0
  let until = 0
  let retryAfterUntil = 0
  let outcome: NoAnswer

  const begin = (why: NoAnswer, waitMs: number, retryAfterMs: number): Waiting => {
    outcome = why
    until = clock.monotonic() + waitMs
    retryAfterUntil = clock.monotonic() + retryAfterMs
    return { outcome, retryAfterMs: Math.max(waitMs, retryAfterMs) }
  }

  return {
    /** After a failure. @param retryAfterMs the server's wish: a minimum. */
    failed: (why: NoAnswer, retryAfterMs: number) =>
      begin(why, Math.min(FIRST_MS * 2 ** failures++, MAX_MS) * (0.5 + random() / 2), retryAfterMs),
    longest: () => begin('RETRY_LATER', MAX_MS, 0),
    succeeded() {
      failures = until = retryAfterUntil = 0
    },
    /** What is left. @param force does not wait for chance, only for what the server asked. */
    left(force: boolean): Waiting | undefined {
      const retryAfterMs = (force ? retryAfterUntil : Math.max(until, retryAfterUntil)) - clock.monotonic()
      return retryAfterMs > 0 ? { outcome, retryAfterMs } : undefined
    },
  }
}
