import { applyChanges } from '../core/state-changes.ts'
import type { EventDatabase, StoredRow } from './event-database.ts'

/** What a memory store holds; who keeps it can open another store on it. */
export interface Memory {
  rows: StoredRow[]
  readonly values: Record<string, string>
  nextId: number
}

/** Rows beyond it leave, oldest first. */
export interface MemoryBounds {
  readonly rows: number
  readonly bytes: number
}

/** Holds what storage cannot: bounded, and gone with the page. */
export function memoryDatabase(memory: Memory, bounds: MemoryBounds): EventDatabase {
  return {
    kind: 'memory',
    async write({ rows = [], values = {}, remove = [], removeOldest = 0, keepAtMost = bounds.rows, countAs }) {
      const ids = rows.map((row) => {
        memory.rows.push(Object.assign({ id: memory.nextId }, row))
        return memory.nextId++
      })
      applyChanges(memory.values, values)
      const before = memory.rows.length
      const rest = memory.rows.filter(({ id }) => remove !== 'all' && !remove.includes(id)).slice(removeOldest)
      rest.splice(0, rest.length - Math.min(keepAtMost, bounds.rows))
      let bytes = rest.reduce((sum, { size }) => sum + size, 0)
      while (bytes > bounds.bytes) bytes -= rest.shift()!.size
      memory.rows = rest
      const removed = before - rest.length
      if (countAs && removed) memory.values[countAs] = String(+(memory.values[countAs] || 0) + removed)
      return { ids, left: rest.length, removed }
    },
    values: async () => Object.assign({}, memory.values),
    count: async () => memory.rows.length,
    async visit(visitor) {
      memory.rows.every(visitor)
    },
    close() {},
  }
}
