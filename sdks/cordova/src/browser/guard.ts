import { GUARDED_KEYS, type State, type StateChanges } from '../core/bridge.ts'
import { parsedObject } from '../core/parsed-json.ts'

const KEY = 'service-sdk-cordova.guard'

export type GuardStorage = Pick<Storage, 'getItem' | 'setItem'>

/**
 * Tracking state, anonymousId and marker, kept outside the database as well: a lost opt-out would be a breach.
 * @see contracts/cordova-sdk.md §14.4
 */
export class Guard {
  /** Throws where a browser forbids it. */
  private readonly storage: () => GuardStorage

  constructor(storage: () => GuardStorage) {
    this.storage = storage
  }

  /** Empty when unreadable. */
  read(): State {
    const guarded: Record<string, string> = {}
    try {
      const values = parsedObject(this.storage().getItem(KEY))
      for (const key of GUARDED_KEYS) if (typeof values[key] === 'string') guarded[key] = values[key]
    } catch {
      // Some browsers throw when storage is switched off.
    }
    return guarded
  }

  /** @returns false when it cannot be written: the database's copy counts then. */
  write(changes: StateChanges): boolean {
    if (!GUARDED_KEYS.some((key) => key in changes)) return true
    try {
      const values: Record<string, string | null> = { ...this.read() }
      for (const key of GUARDED_KEYS) {
        if (changes[key] !== undefined) values[key] = changes[key]
        if (values[key] === null) delete values[key]
      }
      this.storage().setItem(KEY, JSON.stringify(values))
      return true
    } catch {
      return false
    }
  }
}
