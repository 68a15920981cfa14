import type { Change, EventStore, StoredRow, Written } from './event-store.ts'

const NAME = 'service-sdk-cordova'
const VERSION = 1
const OPENING_MS = 5_000

/*
 * Database `service-sdk-cordova`, version 1: object stores `events` (key `id`, counted up; writeKey, size, body) and `state`
 * (key → text). contracts/cordova-sdk.md §14.1
 */

/** @throws DOMException, or Error when the browser does not answer within 5 s. */
export function openIndexedDbStore(after: (delayMs: number, callback: () => void) => () => void): Promise<EventStore> {
  return new Promise((resolve, reject) => {
    const cancel = after(OPENING_MS, () => reject(new Error('IndexedDB did not answer within 5 s')))
    const request = indexedDB.open(NAME, VERSION)
    request.onupgradeneeded = () => {
      request.result.createObjectStore('events', { keyPath: 'id', autoIncrement: true })
      request.result.createObjectStore('state')
    }
    request.onblocked = () => reject(new Error('IndexedDB is blocked by another page'))
    request.onerror = () => reject(request.error)
    request.onsuccess = () => {
      cancel()
      resolve(new IndexedDbStore(request.result))
    }
  })
}

class IndexedDbStore implements EventStore {
  readonly kind = 'indexeddb'
  private readonly database: IDBDatabase

  constructor(database: IDBDatabase) {
    this.database = database
    // Otherwise a later version of the page could not change the database while this one is open.
    database.onversionchange = () => database.close()
  }

  write(change: Change): Promise<Written> {
    const transaction = this.begin('readwrite')
    const events = transaction.objectStore('events')
    const state = transaction.objectStore('state')
    const added = (change.rows ?? []).map((row) => events.add(row))
    const values = change.values ?? {}
    for (const key of Object.keys(values)) {
      if (values[key] === null) state.delete(key)
      else state.put(values[key], key)
    }
    let left = 0
    let removed = 0
    const finish = () => {
      if (!change.countAs || removed === 0) return
      const { countAs } = change
      const counted = state.get(countAs)
      counted.onsuccess = () => state.put(String(Number(counted.result ?? 0) + removed), countAs)
    }
    const before = events.count()
    before.onsuccess = () => {
      const { remove = [], removeOldest = 0, keepNewest = Number.POSITIVE_INFINITY } = change
      if (remove === 'all') events.clear()
      else for (const id of remove) events.delete(id)
      const rest = events.count()
      rest.onsuccess = () => {
        const surplus = Math.min(rest.result, Math.max(removeOldest, rest.result - keepNewest))
        left = rest.result - surplus
        removed = before.result - left
        if (surplus === 0) return finish()
        const oldest = events.getAllKeys(null, surplus)
        oldest.onsuccess = () => {
          events.delete(IDBKeyRange.upperBound(oldest.result[surplus - 1]!))
          finish()
        }
      }
    }
    return settled(transaction, () => ({ ids: added.map(({ result }) => Number(result)), left, removed }))
  }

  values(): Promise<Record<string, string>> {
    const transaction = this.begin('readonly')
    const values: Record<string, string> = {}
    const cursor = transaction.objectStore('state').openCursor()
    cursor.onsuccess = () => {
      if (!cursor.result) return
      values[String(cursor.result.key)] = String(cursor.result.value)
      cursor.result.continue()
    }
    return settled(transaction, () => values)
  }

  count(): Promise<number> {
    const transaction = this.begin('readonly')
    const count = transaction.objectStore('events').count()
    return settled(transaction, () => count.result)
  }

  visit(visitor: (row: StoredRow) => boolean): Promise<void> {
    const transaction = this.begin('readonly')
    const cursor = transaction.objectStore('events').openCursor()
    cursor.onsuccess = () => {
      if (cursor.result && visitor(cursor.result.value)) cursor.result.continue()
    }
    return settled(transaction, () => undefined)
  }

  close(): void {
    this.database.close()
  }

  private begin(mode: IDBTransactionMode): IDBTransaction {
    return this.database.transaction(['events', 'state'], mode, { durability: 'relaxed' })
  }
}

function settled<T>(transaction: IDBTransaction, value: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(value())
    transaction.onabort = () => reject(transaction.error ?? new Error('the transaction was aborted'))
  })
}
