import { GUARDED_KEYS, type StateChanges } from '../core/bridge.ts'
import { parsedObject } from '../core/parsed-json.ts'
import { applyChanges, picked } from '../core/state-changes.ts'

const KEY = 'service-sdk-cordova.guard'

export type GuardStorage = Pick<Storage, 'getItem' | 'setItem'>

/**
 * Tracking state, anonymousId and marker, kept outside the database as well: a lost opt-out would be a breach.
 *
 * @param storage throws where a browser forbids it. @param failed is told of each failure: the database's copy counts then.
 * @see contracts/cordova-sdk.md §14.4
 */
export function newGuard(storage: () => GuardStorage, failed: () => void) {
  /** Empty when unreadable. */
  const read = (): Record<string, string> => {
    const guarded: Record<string, string> = {}
    try {
      const values = parsedObject(storage().getItem(KEY))
      for (const key of GUARDED_KEYS) if (typeof values[key] === 'string') guarded[key] = values[key]
    } catch {
      // Some browsers throw when storage is switched off.
      failed()
    }
    return guarded
  }
  return {
    read,
    put(changes: StateChanges) {
      const guarded = picked(changes, GUARDED_KEYS)
      if (!Object.keys(guarded).length) return
      try {
        const values = read()
        applyChanges(values, guarded)
        storage().setItem(KEY, JSON.stringify(values))
      } catch {
        failed()
      }
    },
  }
}
