import { type Clock, passed } from '../core/clock.ts'
import { ALWAYS } from '../core/log.ts'
import { originOf } from '../core/source/addresses.ts'
import type { NoAnswer } from './wait.ts'

const FAILURES_IN_A_ROW = 3

/**
 * Why a request got no answer: fetch alone only says that it failed.
 * @see contracts/cordova-sdk.md §20
 */
export function newReachability(clock: Clock, isOnline: () => boolean, log: (level: number, text: string) => void) {
  const blocked = new Set<string>()
  const told = new Set<string>()
  let failures = 0

  /** Once each, at every level: without them an app that sees nothing arrive would not know why. */
  const tell = (text: string) => {
    if (!told.has(text)) log(ALWAYS, text)
    told.add(text)
  }

  return {
    /** A `securitypolicyviolation` with the directive connect-src. */
    violated(blockedUri: string) {
      blocked.add(originOf(blockedUri))
    },
    async why(url: string): Promise<NoAnswer> {
      const origin = originOf(url)
      // The page hears of a violation a moment after the request has failed.
      await passed(clock, 0)
      if (blocked.has(origin)) {
        tell(`The page's Content-Security-Policy blocks ${origin}. Add it to connect-src.`)
        return 'CSP_BLOCKED'
      }
      if (!isOnline()) return 'OFFLINE'
      if (++failures >= FAILURES_IN_A_ROW) {
        tell(`Cannot reach ${origin}. Check the address, CORS and Content-Security-Policy.`)
      }
      return 'RETRY_LATER'
    },
    answered() {
      failures = 0
    },
  }
}
