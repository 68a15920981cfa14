import type { LastError, Report, StateChanges, StorageCode } from '../core/bridge.ts'
import { type Clock, isoTime } from '../core/clock.ts'
import { ERROR } from '../core/log.ts'
import { applyChanges } from '../core/state-changes.ts'
import type { Change, Counter, EventStore, StoredRow, Written } from './event-store.ts'
import { memoryStore } from './memory-store.ts'

/** Ids of rows in memory begin here: they are newer than all others. */
const FIRST_MEMORY_ID = 1e15
const MEMORY_BOUNDS = { rows: 1_000, bytes: 2 * 1024 * 1024 }

const CODE_OF: Readonly<Record<string, StorageCode>> = {
  QuotaExceededError: 'STORAGE_FULL',
  InvalidStateError: 'STORAGE_LOST',
  NotFoundError: 'STORAGE_LOST',
}

/** @param onMissing a part of the store was missing and is made anew. */
export type OpenStore = (onMissing: () => void) => Promise<EventStore>

export type EventQueue = ReturnType<typeof newEventQueue>

/**
 * The rows and values of this device: in the store, and in memory from when the store fails. No failure leaves it; each is
 * told by `report`.
 *
 * @param onRemoved rows that are not to be sent any more.
 *
 * @see contracts/cordova-sdk.md §14, §21
 */
export function newEventQueue(
  openStore: OpenStore,
  clock: Clock,
  log: (level: number, text: string) => void,
  onRemoved: (ids: readonly number[]) => void,
) {
  const memory = memoryStore({ rows: [], values: {}, nextId: FIRST_MEMORY_ID }, MEMORY_BOUNDS)
  let store: EventStore | undefined
  /** The store takes no more writes in this process; what it has is still sent. */
  let isDegraded = true
  let opening: Promise<void> | undefined
  const cached: Record<string, string> = {}
  let lastError: LastError | undefined
  const told = new Set<StorageCode>()
  const next = inTurn()
  let leftInStore = 0
  let leftInMemory = 0
  /** Deleted from the store in vain: not to be sent again. */
  const dead = new Set<number>()

  const counted = (counter: Counter) => +(cached[counter] || 0)

  const note = (code: LastError['code'], detail: string) => {
    lastError = { code, at: isoTime(clock.now()), detail: detail.slice(0, 200) }
  }

  const tell = (code: StorageCode, detail: string) => {
    note(code, detail)
    if (!told.has(code)) log(ERROR, `${code} ${detail}`)
    told.add(code)
  }

  /** @returns undefined when it fails; `lastError` then tells how. */
  const attempt = async <T>(work: () => Promise<T>, fixed?: StorageCode): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      const { name = '', message = '' } = (error || {}) as Partial<Error>
      tell(fixed || CODE_OF[name] || 'STORAGE_IO', `${name}: ${message}`)
      return undefined
    }
  }

  const open = async () => {
    store = await openStore(() => tell('STORAGE_CORRUPT', 'made anew: object stores were missing'))
  }

  const learn = ({ values = {}, countAs }: Change, removed: number) => {
    applyChanges(cached, values)
    if (countAs && removed) cached[countAs] = String(counted(countAs) + removed)
  }

  const writeStore = async (change: Change): Promise<Written> => {
    const written = await store!.write(change)
    leftInStore = written.left
    learn(change, written.removed)
    return written
  }

  /** What usually heals: room on a full disk, and a database that is opened anew. */
  const writeAgain = async (change: Change): Promise<Written> => {
    if (lastError!.code === 'STORAGE_FULL') {
      const removeOldest = Math.floor(leftInStore / 10)
      if (removeOldest) await writeStore({ removeOldest, countAs: 'trimmed' })
    } else {
      store!.close()
      await open()
    }
    return writeStore(change)
  }

  const writeMemory = async (change: Change): Promise<Written> => {
    const written = await memory.write(change)
    leftInMemory = written.left
    learn(change, written.removed)
    return written
  }

  const write = async (change: Change): Promise<Written> => {
    if (!isDegraded) {
      const written = (await attempt(() => writeStore(change))) || (await attempt(() => writeAgain(change)))
      if (written) return written
    }
    isDegraded = true
    return writeMemory(change)
  }

  const recount = async () => {
    if (store) leftInStore = await store.count()
  }

  return {
    size: () => leftInStore - dead.size + leftInMemory,

    /** Loads values and counts; once. */
    load(): Promise<void> {
      opening =
        opening ||
        next(async () => {
          await attempt(async () => {
            await open()
            Object.assign(cached, await store!.values())
            await recount()
            isDegraded = false
          }, 'STORAGE_OPEN')
        })
      return opening
    },

    value: (key: string): string | undefined => cached[key],

    values: () => Object.assign({}, cached),

    /** What another tab has written. */
    adopt: (changes: StateChanges) => applyChanges(cached, changes),

    /** One change: in the store, or in memory when that fails. Ids of rows in memory are at or above 1e15. */
    write: (change: Change): Promise<{ ids: readonly number[]; inMemory: boolean }> =>
      next(async () => ({ ids: (await write(change)).ids, inMemory: isDegraded })),

    /** @param countAs absent: they were delivered. */
    remove(ids: readonly number[], countAs?: Counter, values: StateChanges = {}): Promise<void> {
      onRemoved(ids)
      return next(async () => {
        const inStore = ids.filter((id) => id < FIRST_MEMORY_ID)
        await writeMemory({ remove: ids, values, countAs })
        if (!store || !inStore.length) return
        const isWritten = await attempt(() => writeStore({ remove: inStore, values, countAs }))
        if (!isWritten) for (const id of inStore) dead.add(id)
      })
    },

    purge: (values: StateChanges): Promise<void> =>
      next(async () => {
        const change: Change = { remove: 'all', countAs: 'purged', values }
        await writeMemory(change)
        if (!store || (await attempt(() => writeStore(change)))) dead.clear()
      }),

    /** Oldest first, of store and memory, until the visitor answers false. */
    visit: (visitor: (row: StoredRow) => boolean): Promise<void> =>
      next(async () => {
        let goesOn = true
        const visitEach = (row: StoredRow) => {
          goesOn = dead.has(row.id) || visitor(row)
          return goesOn
        }
        await attempt(async () => store?.visit(visitEach))
        if (goesOn) await memory.visit(visitEach)
      }),

    /** Other tabs write and send as well. */
    recount: (): Promise<void> => next(() => attempt(recount)),

    report: (): Report => ({
      storage: isDegraded ? 'memory' : store!.kind,
      dropped: { trimmed: counted('trimmed'), refused: counted('refused'), purged: counted('purged') },
      lastError,
    }),

    /** Trouble of sending, so that the latest of both kinds is the one that is told. */
    note,
  }
}

/** Runs work one after another, so that it takes effect in the order of the calls. */
export function inTurn(): <T>(work: () => Promise<T>) => Promise<T> {
  let line: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = line.then(work)
    line = result.catch(() => {})
    return result
  }
}
