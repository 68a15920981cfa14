import type { EventDatabase } from './event-database.ts'

export const NAME = 'service-sdk-cordova'
const VERSION = 1
const OPENING_MS = 5_000
/** More rows than there can be. */
const MOST = 1e9

/*
 * Database `service-sdk-cordova`, version 1: object stores `events` (key `id`, counted up; writeKey, size, body) and `state`
 * (key → text). contracts/cordova-sdk.md §14.1
 */

/**
 * @param onMissing the database was there without its object stores, and is made anew: some other script has opened one
 * of this name.
 * @throws DOMException, or Error when the browser does not answer within 5 s.
 */
export function openIndexedDatabase(
  after: (delayMs: number, callback: () => void) => () => void,
  onMissing: () => void,
): Promise<EventDatabase> {
  return new Promise((resolve, reject) => {
    const cancel = after(OPENING_MS, () => reject(new Error('no answer within 5 s')))
    const open = () => {
      const request = indexedDB.open(NAME, VERSION)
      request.onupgradeneeded = () => {
        request.result.createObjectStore('events', { keyPath: 'id', autoIncrement: true })
        request.result.createObjectStore('state')
      }
      request.onerror = () => reject(request.error)
      request.onsuccess = () => {
        const { result } = request
        if (result.objectStoreNames.length < 2) {
          result.close()
          indexedDB.deleteDatabase(NAME)
          onMissing()
          return open()
        }
        cancel()
        resolve(databaseOf(result))
      }
    }
    open()
  })
}

function databaseOf(database: IDBDatabase): EventDatabase {
  // Otherwise a later version of the page could not change the database while this one is open.
  database.onversionchange = () => database.close()

  /** One transaction. @param begin starts its requests, and answers what their results make once it is complete. */
  const settled = <T>(
    mode: IDBTransactionMode,
    begin: (events: IDBObjectStore, state: IDBObjectStore) => () => T,
  ): Promise<T> =>
    new Promise((resolve, reject) => {
      const transaction = database.transaction(['events', 'state'], mode, { durability: 'relaxed' })
      const result = begin(transaction.objectStore('events'), transaction.objectStore('state'))
      transaction.oncomplete = () => resolve(result())
      transaction.onabort = () => reject(transaction.error || new Error('aborted'))
    })

  return {
    kind: 'indexeddb',

    write: ({ rows = [], values = {}, remove = [], removeOldest = 0, keepAtMost = MOST, countAs }) =>
      settled('readwrite', (events, state) => {
        const added = rows.map((row) => events.add(row))
        for (const [key, value] of Object.entries(values)) {
          if (value === null) state.delete(key)
          else state.put(value, key)
        }
        let left = 0
        let removed = 0
        const before = events.count()
        if (remove === 'all') events.clear()
        else for (const id of remove) events.delete(id)
        const rest = events.count()
        rest.onsuccess = () => {
          const surplus = Math.min(rest.result, Math.max(removeOldest, rest.result - keepAtMost))
          left = rest.result - surplus
          removed = before.result - left
          if (surplus) {
            const oldest = events.getAllKeys(null, surplus)
            oldest.onsuccess = () => events.delete(IDBKeyRange.upperBound(oldest.result[surplus - 1]))
          }
          if (!countAs || !removed) return
          const counted = state.get(countAs)
          counted.onsuccess = () => state.put(String(+(counted.result || 0) + removed), countAs)
        }
        return () => ({ ids: added.map(({ result }) => result as number), left, removed })
      }),

    values: () =>
      settled('readonly', (_events, state) => {
        const values: Record<string, string> = {}
        const cursor = state.openCursor()
        cursor.onsuccess = () => {
          if (!cursor.result) return
          values[String(cursor.result.key)] = String(cursor.result.value)
          cursor.result.continue()
        }
        return () => values
      }),

    count: () =>
      settled('readonly', (events) => {
        const count = events.count()
        return () => count.result
      }),

    visit: (visitor) =>
      settled('readonly', (events) => {
        const cursor = events.openCursor()
        cursor.onsuccess = () => {
          if (cursor.result && visitor(cursor.result.value)) cursor.result.continue()
        }
        return () => {}
      }),

    close: () => database.close(),
  }
}
