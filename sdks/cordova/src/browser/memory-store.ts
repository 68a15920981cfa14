import type { Change, EventStore, StoredRow, Written } from './event-store.ts'

/** What a memory store holds; who keeps it can open another store on it. */
export interface Memory {
  rows: StoredRow[]
  readonly values: Map<string, string>
  nextId: number
}

/** Rows beyond it leave, oldest first. */
export interface MemoryBounds {
  readonly rows: number
  readonly bytes: number
}

/** Holds what storage cannot: bounded, and gone with the page. */
export class MemoryStore implements EventStore {
  readonly kind = 'memory'
  private readonly memory: Memory
  private readonly bounds: MemoryBounds

  constructor(memory: Memory, bounds: MemoryBounds) {
    this.memory = memory
    this.bounds = bounds
  }

  write(change: Change): Promise<Written> {
    const { memory } = this
    const ids = (change.rows ?? []).map((row) => {
      const id = memory.nextId++
      memory.rows.push({ ...row, id })
      return id
    })
    const changes = change.values ?? {}
    for (const key of Object.keys(changes)) {
      const value = changes[key]
      if (value === null || value === undefined) memory.values.delete(key)
      else memory.values.set(key, value)
    }
    const before = memory.rows.length
    const { remove = [] } = change
    if (remove === 'all') memory.rows = []
    else if (remove.length > 0) memory.rows = memory.rows.filter(({ id }) => !remove.includes(id))
    memory.rows.splice(0, change.removeOldest ?? 0)
    memory.rows.splice(0, this.surplus(Math.min(change.keepNewest ?? this.bounds.rows, this.bounds.rows)))
    const removed = before - memory.rows.length
    if (change.countAs && removed > 0) {
      memory.values.set(change.countAs, String(Number(memory.values.get(change.countAs) ?? 0) + removed))
    }
    return Promise.resolve({ ids, left: memory.rows.length, removed })
  }

  values(): Promise<Record<string, string>> {
    const values: Record<string, string> = {}
    for (const [key, value] of this.memory.values) values[key] = value
    return Promise.resolve(values)
  }

  count(): Promise<number> {
    return Promise.resolve(this.memory.rows.length)
  }

  visit(visitor: (row: StoredRow) => boolean): Promise<void> {
    this.memory.rows.every(visitor)
    return Promise.resolve()
  }

  close(): void {}

  /** How many of the oldest have to go. */
  private surplus(keepNewest: number): number {
    const { rows } = this.memory
    let surplus = Math.max(0, rows.length - keepNewest)
    let bytes = rows.slice(surplus).reduce((sum, { size }) => sum + size, 0)
    for (; bytes > this.bounds.bytes; surplus++) bytes -= rows[surplus]!.size
    return surplus
  }
}
