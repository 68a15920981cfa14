import type { EventDatabase } from './event-database.ts'

export const NAME = 'service-sdk-cordova'
const VERSION = 1
const OPENING_MS = 5_000
/** More rows than there can be. */
const MOST = 1e9

/** In `state`: how many rows there are, for all tabs. Counting reads each of them, which takes long when there are many. */
const COUNT = 'rows'

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
    const cancel = after(OPENING_MS, () => reject(new Error('no answer')))
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

/** How many rows there are, as the last write said. */
function counted(events: IDBObjectStore, state: IDBObjectStore, then: (rows: number) => void): void {
  const known = state.get(COUNT)
  known.onsuccess = () => {
    if (known.result !== undefined) return then(+known.result)
    const rows = events.count()
    rows.onsuccess = () => then(rows.result)
  }
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
      transaction.onabort = () => reject(transaction.error)
    })

  return {
    kind: 'indexeddb',

    write: ({ rows = [], values = {}, remove = [], removeOldest = 0, keepAtMost = MOST, countAs }) =>
      settled('readwrite', (events, state) => {
        const ids: number[] = []
        let left = 0
        let removed = 0
        counted(events, state, (before) => {
          for (const row of rows) {
            const added = events.add(row)
            added.onsuccess = () => ids.push(added.result as number)
          }
          for (const [key, value] of Object.entries(values)) {
            if (value === null) state.delete(key)
            else state.put(value, key)
          }
          const all = before + rows.length
          let rest = all
          if (remove === 'all') {
            events.clear()
            rest = 0
          } else {
            for (const id of remove) {
              // Another tab may have removed it.
              const there = events.count(id)
              there.onsuccess = () => {
                rest -= there.result
              }
              events.delete(id)
            }
          }
          // Its answer comes after those above.
          const last = state.get(countAs || COUNT)
          last.onsuccess = () => {
            const surplus = Math.min(rest, Math.max(removeOldest, rest - keepAtMost))
            left = rest - surplus
            removed = all - left
            if (surplus) {
              const oldest = events.getAllKeys(null, surplus)
              oldest.onsuccess = () => events.delete(IDBKeyRange.upperBound(oldest.result[surplus - 1]))
            }
            state.put(left, COUNT)
            if (countAs && removed) state.put(+(last.result || 0) + removed, countAs)
          }
        })
        return () => ({ ids, left, removed })
      }),

    values: () =>
      settled('readonly', (_events, state) => {
        const keys = state.getAllKeys()
        const texts = state.getAll()
        return () => {
          const values: Record<string, string> = {}
          keys.result.forEach((key, at) => {
            values[key as string] = String(texts.result[at])
          })
          return values
        }
      }),

    count: () =>
      settled('readonly', (events, state) => {
        let rows = 0
        counted(events, state, (count) => {
          rows = count
        })
        return () => rows
      }),

    visit: (visitor, from) =>
      settled('readonly', (events) => {
        const cursor = events.openCursor(IDBKeyRange.lowerBound(from))
        cursor.onsuccess = () => {
          if (cursor.result && visitor(cursor.result.value)) cursor.result.continue()
        }
        return () => {}
      }),

    close: () => database.close(),
  }
}
