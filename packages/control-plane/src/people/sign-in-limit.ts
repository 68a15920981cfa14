import { ApiError } from '@millrace/openapi'
import type { Clock } from '@millrace/std'
import { limitGroup } from '../http/limit-address.ts'

const WRONG_A_MINUTE = 10
const MINUTE_MS = 60_000
const DAY_MS = 24 * 3_600_000
const MAX_ADDRESSES = 10_000

/** Refused sign-ins of the last 24 hours, since this process started. */
export interface RefusedSignIns {
  readonly count: number
  /** Number of addresses; for IPv6 the first 64 bits count. */
  readonly addresses: number
  /** Milliseconds since 1970. */
  readonly lastAt: number | undefined
}

interface Attempts {
  /** By the monotonic clock, oldest first; at most ten. */
  readonly wrong: number[]
  refused: number
  /** By both clocks. */
  lastRefused: { readonly at: number; readonly monotonic: number } | undefined
}

/**
 * Limits wrong sign-ins to the dashboard by address. Accounts have no limit: otherwise an attacker could lock out the
 * owner. Above the maximum of addresses, the one with the oldest attempt is forgotten.
 *
 * @see contracts/dashboard.md §4 N2, docs/decisions/0077-limits-by-address.md
 */
export class SignInLimit {
  readonly #clock: Clock
  /** Ordered by the last attempt. */
  readonly #attempts = new Map<string, Attempts>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Call it in the same turn as `noteWrong`, so that parallel attempts count. @throws ApiError 429 */
  check(address: string): void {
    const attempts = this.#attempts.get(limitGroup(address))
    if (attempts === undefined) return
    const now = this.#clock.monotonic()
    while (attempts.wrong.length > 0 && now - attempts.wrong[0]! >= MINUTE_MS) attempts.wrong.shift()
    if (attempts.wrong.length < WRONG_A_MINUTE) return
    attempts.refused++
    attempts.lastRefused = { at: this.#clock.now(), monotonic: now }
    const retryAfter = Math.max(1, Math.ceil((attempts.wrong[0]! + MINUTE_MS - now) / 1_000))
    throw new ApiError('rate_limited', `Too many failed sign-ins from this address: try again in ${retryAfter} s`, {
      headers: { 'Retry-After': String(retryAfter) },
    })
  }

  noteWrong(address: string): void {
    const group = limitGroup(address)
    const attempts = this.#attempts.get(group) ?? { wrong: [], refused: 0, lastRefused: undefined }
    this.#attempts.delete(group)
    if (this.#attempts.size >= MAX_ADDRESSES) this.#attempts.delete(this.#attempts.keys().next().value!)
    this.#attempts.set(group, attempts)
    attempts.wrong.push(this.#clock.monotonic())
  }

  refused(): RefusedSignIns {
    const since = this.#clock.monotonic() - DAY_MS
    const recent = [...this.#attempts.values()].filter(({ lastRefused }) => (lastRefused?.monotonic ?? since) > since)
    const times = recent.map(({ lastRefused }) => lastRefused!.at)
    return {
      count: recent.reduce((sum, { refused }) => sum + refused, 0),
      addresses: recent.length,
      lastAt: times.length === 0 ? undefined : Math.max(...times),
    }
  }
}
