import { originOf } from '../core/addresses.ts'
import type { Clock } from '../core/clock.ts'
import { ALWAYS } from '../core/log.ts'
import type { NoAnswer } from './sender.ts'

const FAILURES_IN_A_ROW = 3

/**
 * Why a request got no answer: fetch alone only says that it failed.
 * @see contracts/cordova-sdk.md §20
 */
export class Reachability {
  private readonly clock: Clock
  private readonly isOnline: () => boolean
  private readonly log: (level: number, text: string) => void
  private readonly blocked = new Set<string>()
  private readonly told = new Set<string>()
  private failures = 0

  constructor(clock: Clock, isOnline: () => boolean, log: (level: number, text: string) => void) {
    this.clock = clock
    this.isOnline = isOnline
    this.log = log
  }

  /** A `securitypolicyviolation` with the directive connect-src. */
  violated(blockedUri: string): void {
    this.blocked.add(originOf(blockedUri))
  }

  async why(url: string): Promise<NoAnswer> {
    const origin = originOf(url)
    // The page hears of a violation a moment after the request has failed.
    await new Promise<void>((resolve) => this.clock.after(0, resolve))
    if (this.blocked.has(origin)) {
      this.tell(`The page's Content-Security-Policy blocks ${origin}. Add it to connect-src.`)
      return 'CSP_BLOCKED'
    }
    if (!this.isOnline()) return 'OFFLINE'
    this.failures++
    if (this.failures >= FAILURES_IN_A_ROW) {
      this.tell(`Cannot reach ${origin}. Check the address, CORS and Content-Security-Policy.`)
    }
    return 'RETRY_LATER'
  }

  answered(): void {
    this.failures = 0
  }

  /** Once each, at every level: without them an app that sees nothing arrive would not know why. */
  private tell(text: string): void {
    if (this.told.has(text)) return
    this.told.add(text)
    this.log(ALWAYS, text)
  }
}
