import type { LastError, Report, StateChanges, StorageCode, StorageKind } from '../core/bridge.ts'
import type { Clock } from '../core/clock.ts'
import { ERROR } from '../core/log.ts'
import type { Change, Counter, EventStore, NewRow, StoredRow, Written } from './event-store.ts'
import { MemoryStore } from './memory-store.ts'

export interface EventQueueOptions {
  readonly openStore: () => Promise<EventStore>
  readonly clock: Clock
  readonly log: (level: number, text: string) => void
  /** Rows that are not to be sent any more. */
  readonly onRemoved: (ids: readonly number[]) => void
}

export interface Pushing {
  readonly rows: readonly NewRow[]
  readonly values: StateChanges
  readonly keepNewest: number
}

/** Ids of rows in memory begin here: they are newer than all others. */
const FIRST_MEMORY_ID = 1e15
const MEMORY_BOUNDS = { rows: 1_000, bytes: 2 * 1024 * 1024 }
const COUNTERS: readonly Counter[] = ['trimmed', 'refused', 'purged']

/**
 * The rows and values of this device: in the store, and in memory from when the store fails. No failure leaves this class;
 * each is told by `report`.
 *
 * @see contracts/cordova-sdk.md §14, §21
 */
export class EventQueue {
  private readonly options: EventQueueOptions
  private readonly memory = new MemoryStore({ rows: [], values: new Map(), nextId: FIRST_MEMORY_ID }, MEMORY_BOUNDS)
  private store: EventStore | undefined
  /** The store takes no more writes in this process; what it has is still sent. */
  private isDegraded = false
  private opening: Promise<void> | undefined
  private readonly cached = new Map<string, string>()
  private lastError: LastError | undefined
  private readonly told = new Set<StorageCode>()
  /** Operations one after another, so that they take effect in the order of the calls. */
  private line: Promise<unknown> = Promise.resolve()
  private left = { store: 0, memory: 0 }
  /** Deleted from the store in vain: not to be sent again. */
  private readonly dead = new Set<number>()

  constructor(options: EventQueueOptions) {
    this.options = options
  }

  get size(): number {
    return this.left.store - this.dead.size + this.left.memory
  }

  /** Loads values and counts; once. */
  load(): Promise<void> {
    this.opening ??= this.next(async () => {
      try {
        this.store = await this.options.openStore()
        await this.read()
      } catch (error) {
        this.fail('STORAGE_OPEN', error)
        this.isDegraded = true
      }
    })
    return this.opening
  }

  value(key: string): string | undefined {
    return this.cached.get(key)
  }

  values(): Record<string, string> {
    const values: Record<string, string> = {}
    for (const [key, value] of this.cached) values[key] = value
    return values
  }

  /** What another tab has written. */
  adopt(changes: StateChanges): void {
    for (const key of Object.keys(changes)) this.setCached(key, changes[key]!)
  }

  /** @returns ids in the order of the rows; those in memory are at or above 1e15. */
  push({ rows, values, keepNewest }: Pushing): Promise<{ ids: readonly number[]; inMemory: boolean }> {
    return this.next(async () => {
      const { ids, inMemory } = await this.write({ rows, values, keepNewest, countAs: 'trimmed' })
      return { ids, inMemory }
    })
  }

  set(values: StateChanges): Promise<void> {
    return this.next(async () => {
      await this.write({ values })
    })
  }

  /** @param countAs absent: they were delivered. */
  remove(ids: readonly number[], countAs?: Counter, values: StateChanges = {}): Promise<void> {
    this.options.onRemoved(ids)
    return this.next(async () => {
      const inMemory = ids.filter((id) => id >= FIRST_MEMORY_ID)
      const inStore = ids.filter((id) => id < FIRST_MEMORY_ID)
      if (inMemory.length > 0) await this.writeMemory({ remove: inMemory, values, ...(countAs && { countAs }) })
      if (!this.store || inStore.length === 0) return
      try {
        await this.writeStore({ remove: inStore, values, ...(countAs && { countAs }) })
      } catch (error) {
        this.fail(codeOf(error), error)
        for (const id of inStore) this.dead.add(id)
      }
    })
  }

  purge(values: StateChanges): Promise<void> {
    return this.next(async () => {
      const change: Change = { remove: 'all', countAs: 'purged', values }
      await this.writeMemory(change)
      try {
        if (this.store) await this.writeStore(change)
        this.dead.clear()
      } catch (error) {
        this.fail(codeOf(error), error)
      }
    })
  }

  /** Oldest first, of store and memory, until the visitor answers false. */
  visit(visitor: (row: StoredRow) => boolean): Promise<void> {
    return this.next(async () => {
      let goesOn = true
      const visitEach = (row: StoredRow) => {
        goesOn = this.dead.has(row.id) || visitor(row)
        return goesOn
      }
      try {
        await this.store?.visit(visitEach)
      } catch (error) {
        this.fail(codeOf(error), error)
      }
      if (goesOn) await this.memory.visit(visitEach)
    })
  }

  /** Other tabs write and send as well. */
  recount(): Promise<void> {
    return this.next(async () => {
      try {
        if (this.store) this.left.store = await this.store.count()
      } catch (error) {
        this.fail(codeOf(error), error)
      }
    })
  }

  report(): Report {
    const dropped = { trimmed: 0, refused: 0, purged: 0 }
    for (const counter of COUNTERS) dropped[counter] = Number(this.cached.get(counter) ?? 0)
    return { storage: this.storage, dropped, ...(this.lastError && { lastError: this.lastError }) }
  }

  /** Trouble of sending, so that the latest of both kinds is the one that is told. */
  note(code: LastError['code'], detail: string): void {
    const at = new Date(this.options.clock.now()).toISOString()
    this.lastError = { code, at, detail: detail.slice(0, 200) }
  }

  private get storage(): StorageKind {
    return this.store && !this.isDegraded ? this.store.kind : 'memory'
  }

  private async write(change: Change): Promise<Written & { inMemory: boolean }> {
    if (this.store && !this.isDegraded) {
      try {
        return { ...(await this.writeStore(change)), inMemory: false }
      } catch (error) {
        const code = codeOf(error)
        this.fail(code, error)
        try {
          return { ...(await this.writeAgain(code, change)), inMemory: false }
        } catch (again) {
          this.fail(codeOf(again), again)
          this.isDegraded = true
        }
      }
    }
    return { ...(await this.writeMemory(change)), inMemory: true }
  }

  /** What usually heals: room on a full disk, and a database that is opened anew. */
  private async writeAgain(code: StorageCode, change: Change): Promise<Written> {
    if (code === 'STORAGE_FULL') {
      const removeOldest = Math.floor(this.left.store / 10)
      if (removeOldest > 0) await this.writeStore({ removeOldest, countAs: 'trimmed' })
    } else {
      this.store?.close()
      this.store = await this.options.openStore()
    }
    return this.writeStore(change)
  }

  private async writeStore(change: Change): Promise<Written> {
    const written = await this.store!.write(change)
    this.left.store = written.left
    this.setValues(change, written.removed)
    return written
  }

  private async writeMemory(change: Change): Promise<Written> {
    const { rows = [], ...rest } = change
    // `keepNewest` is of the store; memory has bounds of its own.
    const { keepNewest: _, ...own } = rest
    const written = await this.memory.write({ ...own, rows })
    this.left.memory = written.left
    this.setValues(change, written.removed)
    return written
  }

  private setValues({ values = {}, countAs }: Change, removed: number): void {
    for (const key of Object.keys(values)) this.setCached(key, values[key]!)
    if (countAs && removed > 0) this.cached.set(countAs, String(Number(this.cached.get(countAs) ?? 0) + removed))
  }

  private setCached(key: string, value: string | null): void {
    if (value === null) this.cached.delete(key)
    else this.cached.set(key, value)
  }

  private async read(): Promise<void> {
    const values = await this.store!.values()
    for (const key of Object.keys(values)) this.cached.set(key, values[key]!)
    this.left.store = await this.store!.count()
  }

  private fail(code: StorageCode, error: unknown): void {
    const { name = '', message = '' } = (error ?? {}) as Partial<Error>
    const detail = `${name}: ${message}`
    this.note(code, detail)
    if (this.told.has(code)) return
    this.told.add(code)
    this.options.log(ERROR, `${code} ${detail}`)
  }

  private next<T>(work: () => Promise<T>): Promise<T> {
    const result = this.line.then(work)
    this.line = result.catch(() => undefined)
    return result
  }
}

function codeOf(error: unknown): StorageCode {
  const { name = '' } = (error ?? {}) as Partial<Error>
  if (name === 'QuotaExceededError') return 'STORAGE_FULL'
  if (name === 'InvalidStateError' || name === 'NotFoundError') return 'STORAGE_LOST'
  return 'STORAGE_IO'
}
