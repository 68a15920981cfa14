import type { Clock } from '@millrace/std'

const WINDOW_MS = 60_000
/** Of an event: what sums of fractions may be wrong by. */
const ROUNDING = 1e-6

export interface RateLimitState {
  readonly isAllowed: boolean
  readonly limit: number
  readonly remaining: number
  /** Until the allowance is full again. */
  readonly resetSeconds: number
  /** Until the refused request would pass; at least 1. */
  readonly retryAfterSeconds: number
}

/**
 * Events per minute and source, as a sliding allowance that refills evenly. A request with more events than the whole
 * allowance passes when the allowance is full, and is paid back afterwards.
 *
 * @see contracts/ingest.md §9 "Rate limit"
 */
export class RateLimiter {
  readonly #clock: Clock
  readonly #allowances = new Map<string, { left: number; at: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Takes `events` from a source's allowance, or nothing if they do not fit. */
  take(sourceId: string, eventsPerMinute: number, events: number): RateLimitState {
    const now = this.#clock.monotonic()
    const allowance = this.#allowances.get(sourceId) ?? { left: eventsPerMinute, at: now }
    this.#allowances.set(sourceId, allowance)
    const perMs = eventsPerMinute / WINDOW_MS
    allowance.left = Math.min(eventsPerMinute, allowance.left + (now - allowance.at) * perMs)
    allowance.at = now
    const needed = Math.min(events, eventsPerMinute)
    // Rounding must not keep a full allowance from counting as full.
    const isAllowed = allowance.left >= needed - ROUNDING
    if (isAllowed) allowance.left -= events
    // Half of it, so that what is due after these seconds is sure to pass then.
    const secondsFor = (missing: number) => Math.max(0, Math.ceil((missing - ROUNDING / 2) / perMs / 1000))
    return {
      isAllowed,
      limit: eventsPerMinute,
      remaining: Math.max(0, Math.floor(allowance.left + ROUNDING)),
      resetSeconds: secondsFor(eventsPerMinute - allowance.left),
      retryAfterSeconds: Math.max(1, secondsFor(needed - allowance.left)),
    }
  }

  /** Gives back what a request took that could not be stored. */
  giveBack(sourceId: string, events: number): void {
    const allowance = this.#allowances.get(sourceId)
    if (allowance !== undefined) allowance.left += events
  }

  /** Forgets sources that are no more. */
  keepOnly(isKnown: (sourceId: string) => boolean): void {
    for (const sourceId of this.#allowances.keys()) {
      if (!isKnown(sourceId)) this.#allowances.delete(sourceId)
    }
  }
}

export function rateLimitHeaders(state: RateLimitState): Record<string, string> {
  return {
    'RateLimit-Limit': String(state.limit),
    'RateLimit-Remaining': String(state.remaining),
    'RateLimit-Reset': String(state.resetSeconds),
    ...(state.isAllowed ? {} : { 'Retry-After': String(state.retryAfterSeconds) }),
  }
}
