import { GUARDED_KEYS, type StateChanges } from '../core/bridge.ts'
import { applyChanges, picked } from '../core/state-changes.ts'
import { parsedObject } from '../core/text/parsed-json.ts'

/** In localStorage. */
export const GUARD = 'service-sdk-cordova.guard'

/** Puts this text there, if one is given. @returns what is there. @throws where a browser forbids it */
export type GuardText = (text?: string) => string | null

export const guardText: GuardText = (text) => {
  if (text) localStorage.setItem(GUARD, text)
  return localStorage.getItem(GUARD)
}

/**
 * Tracking state, anonymousId and marker, kept outside the database as well: a lost opt-out would be a breach.
 *
 * @param failed called when the guard cannot be read or written; the copy in the database then counts.
 * @see contracts/cordova-sdk.md §14.4
 */
export function newGuard(guardText: GuardText, failed: () => void) {
  /** Empty when unreadable. */
  const read = (): Record<string, string> => {
    const guarded: Record<string, string> = {}
    try {
      const values = parsedObject(guardText())
      for (const key of GUARDED_KEYS) if (typeof values[key] === 'string') guarded[key] = values[key]
    } catch {
      // Some browsers throw when storage is switched off.
      failed()
    }
    return guarded
  }
  return {
    read,
    /** @returns whether it holds those that are guarded. */
    put(changes: StateChanges): boolean {
      const guarded = picked(changes, GUARDED_KEYS)
      if (!Object.keys(guarded).length) return false
      try {
        const values = read()
        applyChanges(values, guarded)
        guardText(JSON.stringify(values))
        return true
      } catch {
        failed()
        return false
      }
    },
  }
}
