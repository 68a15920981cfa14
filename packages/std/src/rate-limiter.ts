import type { Clock } from './clock.ts'

const WINDOW_MS = 60_000
/** What sums of fractions may be wrong by. */
const ROUNDING = 1e-6
const FORGET_ABOVE = 1_000

export interface RequestRate {
  readonly isAllowed: boolean
  /** RateLimit-* of the answer, and Retry-After where it is refused; undefined without a limit. */
  readonly headers: Readonly<Record<string, string>> | undefined
}

/**
 * So many per minute for each key, as an allowance that refills evenly. A request for more than a whole allowance passes
 * when the allowance is full, and is paid back afterwards.
 *
 * @see contracts/ingest.md §9 "Rate limit", contracts/control-plane.md §4 "limits" [D12]
 */
export class RateLimiter {
  readonly #clock: Clock
  readonly #allowances = new Map<string, { left: number; at: number; perMinute: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Takes `count` from the allowance of a key, or nothing if it is used up.
   *
   * @param perMinute 0 means no limit.
   * @param processes that share the limit: this one grants its part of it, and tells the whole and, of the whole, the rest.
   */
  take(key: string, perMinute: number, count = 1, processes = 1): RequestRate {
    if (perMinute === 0) return { isAllowed: true, headers: undefined }
    const now = this.#clock.monotonic()
    const part = perMinute / processes
    const perMs = part / WINDOW_MS
    const before = this.#allowances.get(key) ?? { left: part, at: now }
    let left = Math.min(part, before.left + (now - before.at) * perMs)
    const needed = Math.min(count, part)
    // Rounding must not keep a full allowance from counting as full.
    const isAllowed = left >= needed - ROUNDING
    if (isAllowed) left -= count
    if (this.#allowances.size >= FORGET_ABOVE) this.#forgetFull(now)
    this.#allowances.set(key, { left, at: now, perMinute: part })
    // Half of it, so that what is due after these seconds is sure to pass then.
    const secondsFor = (missing: number) => Math.max(0, Math.ceil((missing - ROUNDING / 2) / perMs / 1000))
    const headers = {
      'RateLimit-Limit': String(perMinute),
      'RateLimit-Remaining': String(Math.max(0, Math.floor(left * processes + ROUNDING))),
      'RateLimit-Reset': String(secondsFor(part - left)),
    }
    if (isAllowed) return { isAllowed, headers }
    return { isAllowed, headers: { ...headers, 'Retry-After': String(Math.max(1, secondsFor(needed - left))) } }
  }

  /** Gives back what a request took and did not use. */
  giveBack(key: string, count: number): void {
    const allowance = this.#allowances.get(key)
    if (allowance !== undefined) allowance.left += count
  }

  /** Keys come and go; an allowance that is full again by now need not be remembered. */
  #forgetFull(now: number): void {
    for (const [key, { left, at, perMinute }] of this.#allowances) {
      if (left + ((now - at) * perMinute) / WINDOW_MS >= perMinute) this.#allowances.delete(key)
    }
  }
}
