const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const FIRST_WAIT_MS = 10_000
const MAX_WAIT_MS = 300_000
const MAX_RETRY_AFTER_MS = HOUR_MS

/** A destination that fails is given this long, and at least this many attempts or probes. */
export const GIVE_UP_AFTER_MS = 180 * MINUTE_MS
export const GIVE_UP_ATTEMPTS = 3
/** What is only refused or put off (401, 403, 408, 429) is given this long from acceptance. */
export const EXPIRES_AFTER_MS = 720 * HOUR_MS

/**
 * The wait after the n-th failed attempt, in ms.
 *
 * @param random 0 ≤ random < 1.
 * @see contracts/delivery.md §3 [D605]
 */
export function retryWaitMs(failedAttempts: number, random: number): number {
  const step = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failedAttempts - 1, 10))
  return Math.round(step * (0.8 + 0.2 * random))
}

/** The wait that a Retry-After header (seconds or HTTP date) asks for, in ms, at most an hour; 0 if it asks for none. */
export function retryAfterMs(header: string | undefined, nowMs: number): number {
  if (header === undefined) return 0
  const text = header.trim()
  const wait = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs
  return Number.isNaN(wait) ? 0 : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, wait))
}
