import type { Clock } from '@millrace/std'

const WINDOW_MS = 60_000
const FORGET_ABOVE = 1_000

export interface RequestRate {
  readonly isAllowed: boolean
  /** RateLimit-* of the answer, and Retry-After where it is refused. */
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Requests per minute and token, as an allowance that refills evenly.
 *
 * @see contracts/control-plane.md §4 "limits" [D12]
 */
export class RequestRates {
  readonly #clock: Clock
  readonly #perMinute: number
  readonly #allowances = new Map<string, { left: number; at: number }>()

  /** @param perMinute 0 means no limit. */
  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock
    this.#perMinute = perMinute
  }

  /** Takes one request from the allowance of a token, or nothing if it is used up. */
  take(tokenId: string): RequestRate {
    if (this.#perMinute === 0) return { isAllowed: true, headers: {} }
    const now = this.#clock.monotonic()
    const perMs = this.#perMinute / WINDOW_MS
    const before = this.#allowances.get(tokenId) ?? { left: this.#perMinute, at: now }
    const left = Math.min(this.#perMinute, before.left + (now - before.at) * perMs)
    // Rounding must not keep a request from passing that was told to come back now.
    const isAllowed = left >= 1 - 1e-6
    const after = isAllowed ? left - 1 : left
    if (this.#allowances.size >= FORGET_ABOVE) this.#forgetFull(now)
    this.#allowances.set(tokenId, { left: after, at: now })
    const headers = {
      'RateLimit-Limit': String(this.#perMinute),
      'RateLimit-Remaining': String(Math.max(0, Math.floor(after + 1e-6))),
      'RateLimit-Reset': String(Math.ceil((this.#perMinute - after) / perMs / 1000)),
    }
    if (isAllowed) return { isAllowed, headers }
    const retryAfterSeconds = Math.max(1, Math.ceil((1 - after) / perMs / 1000))
    return { isAllowed, headers: { ...headers, 'Retry-After': String(retryAfterSeconds) } }
  }

  /** Tokens come and go; an allowance that would be full again by now need not be remembered. */
  #forgetFull(now: number): void {
    for (const [tokenId, { at }] of this.#allowances) {
      if (now - at >= WINDOW_MS) this.#allowances.delete(tokenId)
    }
  }
}
