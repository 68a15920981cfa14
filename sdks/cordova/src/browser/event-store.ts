import type { Report, StateChanges, StorageCode } from '../core/bridge.ts'
import { ERROR, WARN } from '../core/log.ts'
import { applyChanges } from '../core/state-changes.ts'
import type { Diagnostics } from './diagnostics.ts'
import type { Change, Counter, EventDatabase, NewRow, StoredRow, Written } from './event-database.ts'

/** Ids of rows in memory begin here: they are newer than all others. */
const FIRST_MEMORY_ID = 1e15
const MAX_IN_MEMORY = 1_000
const MAX_BYTES_IN_MEMORY = 2 * 1024 * 1024

const CODE_OF: Readonly<Record<string, StorageCode>> = {
  QuotaExceededError: 'STORAGE_FULL',
  InvalidStateError: 'STORAGE_LOST',
  NotFoundError: 'STORAGE_LOST',
}

/** Commits of one transaction. */
interface Together extends Change {
  readonly rows: NewRow[]
  readonly values: Record<string, string | null>
  keepAtMost?: number
  /** Ids of the rows. */
  readonly written: Promise<readonly number[]>
}

/** Rows that were committed, among those of other calls. */
interface Kept {
  readonly ids: readonly number[]
  /** Where theirs begin in `ids`. */
  readonly firstAt: number
  readonly inMemory: boolean
}

/** @param onMissing a part of the database was missing and is made anew. */
export type OpenDatabase = (onMissing: () => void) => Promise<EventDatabase>

export type EventStore = ReturnType<typeof newEventStore>

/**
 * The rows and values of this device: in the database, and in memory from when the database fails. No failure leaves it;
 * each is told by `report`.
 *
 * @param onRemoved rows that are not to be sent any more, and those of them that every tab knows by the same id.
 *
 * @see contracts/cordova-sdk.md §14, §21
 */
export function newEventStore(
  openDatabase: OpenDatabase,
  diagnostics: Diagnostics,
  onRemoved: (ids: readonly number[], inDatabase: number[]) => void,
) {
  /** What storage cannot hold: bounded, and gone with the page. */
  let memory: StoredRow[] = []
  let nextMemoryId = FIRST_MEMORY_ID
  let database: EventDatabase | undefined
  /** The database takes no more writes in this process; what it has is still sent. */
  let isInMemory = true
  let opening: Promise<void> | undefined
  const cached: Record<string, string> = {}
  const next = inTurn()
  let leftInDatabase = 0
  /** Has not begun: more commits may join it. */
  let waiting: Together | undefined
  /** Rows that are not to be sent any more and are still there: delivered or refused, or such that nobody can read. */
  const done = new Set<number>()

  const counted = (counter: Counter) => +(cached[counter] || 0)

  /** @returns undefined when it fails; `lastError` then tells how. */
  const attempt = async <T>(work: () => Promise<T>, fixed?: StorageCode): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      const { name = '', message = '' } = (error || {}) as Partial<Error>
      diagnostics.storageFailed(fixed || CODE_OF[name] || 'STORAGE_IO', `${name}: ${message}`)
      return undefined
    }
  }

  const open = async () => {
    database = await openDatabase(() => diagnostics.storageFailed('STORAGE_CORRUPT', ''))
  }

  const learn = ({ values = {}, countAs }: Change, removed: number) => {
    applyChanges(cached, values)
    if (countAs && removed) cached[countAs] = String(counted(countAs) + removed)
  }

  const writeDatabase = async (change: Change): Promise<Written> => {
    const written = await database!.write(change)
    leftInDatabase = written.left
    learn(change, written.removed)
    return written
  }

  /** @returns undefined when it fails twice; `lastError` then tells how. */
  const writeWithRetry = async (change: Change): Promise<Written | undefined> =>
    (await attempt(() => writeDatabase(change))) || attempt(() => writeAgain(change))

  /** What usually heals: room on a full disk, and a database that is opened anew. */
  const writeAgain = async (change: Change): Promise<Written> => {
    if (diagnostics.lastError()!.code === 'STORAGE_FULL') {
      if (done.size && (await attempt(() => writeDatabase({ remove: [...done] })))) done.clear()
      const written = await attempt(() => writeDatabase(change))
      if (written) return written
      const removeOldest = Math.floor(leftInDatabase / 10)
      if (removeOldest) {
        await writeDatabase({ removeOldest, countAs: 'trimmed' })
        diagnostics.told(ERROR, 'STORAGE_FULL', `the ${removeOldest} oldest events were deleted`)
      }
    } else {
      database!.close()
      await open()
    }
    return writeDatabase(change)
  }

  const writeMemory = (change: Change): readonly number[] => {
    const { rows = [], remove = [], keepAtMost = MAX_IN_MEMORY } = change
    const ids = rows.map((row) => {
      memory.push({ id: nextMemoryId, ...row })
      return nextMemoryId++
    })
    const before = memory.length
    memory = memory.filter(({ id }) => remove !== 'all' && !remove.includes(id))
    let bytes = memory.reduce((sum, { size }) => sum + size, 0)
    while (memory.length > Math.min(keepAtMost, MAX_IN_MEMORY) || bytes > MAX_BYTES_IN_MEMORY) {
      bytes -= memory.shift()!.size
    }
    learn(change, before - memory.length)
    return ids
  }

  const write = async (change: Change): Promise<readonly number[]> => {
    if (!isInMemory) {
      const written = await writeWithRetry(change)
      if (written) return written.ids
    }
    isInMemory = true
    return writeMemory(change)
  }

  const recount = async () => {
    if (database) leftInDatabase = await database.count()
  }

  return {
    rowCount: () => leftInDatabase - done.size + memory.length,

    /** Loads values and counts; once. */
    load(): Promise<void> {
      const start = async () => {
        await open()
        Object.assign(cached, await database!.values())
        await recount()
        isInMemory = false
      }
      opening = opening || next(() => attempt(start, 'STORAGE_OPEN'))
      return opening
    },

    kept: (key: string): string | undefined => cached[key],

    state: () => ({ ...cached }),

    /** What another tab has written. */
    adopt: (changes: StateChanges) => applyChanges(cached, changes),

    /** In the database, or in memory when that fails; one transaction may serve several calls. Ids of rows in memory are at or above 1e15. */
    async commit(added: readonly NewRow[], changes: StateChanges, keepAtMost?: number): Promise<Kept> {
      const whole: Together = waiting || {
        rows: [],
        values: {},
        countAs: 'trimmed',
        written: next(() => {
          waiting = undefined
          return write(whole)
        }),
      }
      waiting = whole
      const firstAt = whole.rows.push(...added) - added.length
      Object.assign(whole.values, changes)
      if (keepAtMost) whole.keepAtMost = keepAtMost
      return { ids: await whole.written, firstAt, inMemory: isInMemory }
    },

    /** @param countAs absent: they were delivered. */
    remove(ids: readonly number[], countAs?: Counter, values: StateChanges = {}): Promise<void> {
      const inDatabase = ids.filter((id) => id < FIRST_MEMORY_ID)
      onRemoved(ids, inDatabase)
      return next(async () => {
        writeMemory({ remove: ids, values, countAs })
        if (!database || !inDatabase.length) return
        const isWritten = await attempt(() => writeDatabase({ remove: inDatabase, values, countAs }))
        if (!isWritten) for (const id of inDatabase) done.add(id)
      })
    },

    /** @param isOurs false: another tab has purged the database; only memory is purged. */
    purge(isOurs: boolean): Promise<void> {
      waiting = undefined
      return next(async () => {
        const change: Change = { remove: 'all', countAs: 'purged' }
        writeMemory(change)
        if (isOurs && database && (await writeWithRetry(change))) done.clear()
      })
    },

    /** Oldest first, of database and memory, until the visitor answers false. @param from the least id. */
    visit: (visitor: (row: StoredRow) => boolean, from = 0): Promise<void> =>
      next(async () => {
        let goesOn = true
        const visitEach = (row: StoredRow) => {
          if (!isReadable(row) && !done.has(row.id)) {
            done.add(row.id)
            diagnostics.told(WARN, 'STORAGE_CORRUPT', `event ${row.id} was ignored`)
          }
          goesOn = done.has(row.id) || visitor(row)
          return goesOn
        }
        if (database) await attempt(() => database!.visit(visitEach, from))
        if (goesOn) memory.every((row) => row.id < from || visitEach(row))
      }),

    /** Other tabs write and send as well. */
    recount: (): Promise<void> => next(() => attempt(recount)),

    report: (): Report => ({
      storage: isInMemory ? 'memory' : database!.kind,
      dropped: { trimmed: counted('trimmed'), refused: counted('refused'), purged: counted('purged') },
      lastError: diagnostics.lastError(),
    }),
  }
}

/** Other scripts of the page can write what they like into its databases. */
function isReadable({ size, body }: StoredRow): boolean {
  return size >= 0 && typeof body === 'string'
}

/** Runs work one after another, so that it takes effect in the order of the calls. */
export function inTurn(): <T>(work: () => Promise<T>) => Promise<T> {
  // biome-ignore lint/suspicious/noExplicitAny: each link has the result of its own work
  let line: Promise<any> = Promise.resolve()
  return (work) => {
    line = line.then(work, work)
    return line
  }
}
