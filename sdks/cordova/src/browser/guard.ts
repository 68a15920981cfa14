import { GUARDED_KEYS, type StateChanges } from '../core/bridge.ts'
import { parsedObject } from '../core/parsed-json.ts'
import { applyChanges, picked } from '../core/state-changes.ts'

const KEY = 'service-sdk-cordova.guard'

export type GuardStorage = Pick<Storage, 'getItem' | 'setItem'>

/**
 * Tracking state, anonymousId and marker, kept outside the database as well: a lost opt-out would be a breach.
 *
 * @param storage throws where a browser forbids it.
 * @see contracts/cordova-sdk.md §14.4
 */
export function newGuard(storage: () => GuardStorage) {
  /** Empty when unreadable. */
  const read = (): Record<string, string> => {
    const guarded: Record<string, string> = {}
    try {
      const values = parsedObject(storage().getItem(KEY))
      for (const key of GUARDED_KEYS) if (typeof values[key] === 'string') guarded[key] = values[key]
    } catch {
      // Some browsers throw when storage is switched off.
    }
    return guarded
  }
  return {
    read,
    /** @returns false when it cannot be written: the database's copy counts then. */
    put(changes: StateChanges): boolean {
      const guarded = picked(changes, GUARDED_KEYS)
      if (!Object.keys(guarded).length) return true
      try {
        const values = read()
        applyChanges(values, guarded)
        storage().setItem(KEY, JSON.stringify(values))
        return true
      } catch {
        return false
      }
    },
  }
}
