import type { EventDatabase, StoredRow } from '../browser/event-database.ts'
import { applyChanges } from '../core/state-changes.ts'

/** What a memory store holds; who keeps it can open another store on it. */
export interface Memory {
  rows: StoredRow[]
  readonly values: Record<string, string>
  nextId: number
}

/** A store that outlives the engine which uses it, as a database does. */
export function memoryDatabase(memory: Memory): EventDatabase {
  return {
    kind: 'memory',
    async write({
      rows = [],
      values = {},
      remove = [],
      removeOldest = 0,
      keepAtMost = Number.POSITIVE_INFINITY,
      countAs,
    }) {
      const ids = rows.map((row) => {
        memory.rows.push(Object.assign({ id: memory.nextId }, row))
        return memory.nextId++
      })
      applyChanges(memory.values, values)
      const before = memory.rows.length
      const rest = memory.rows.filter(({ id }) => remove !== 'all' && !remove.includes(id)).slice(removeOldest)
      rest.splice(0, rest.length - Math.min(rest.length, keepAtMost))
      memory.rows = rest
      const removed = before - rest.length
      if (countAs && removed) memory.values[countAs] = String(+(memory.values[countAs] || 0) + removed)
      return { ids, left: rest.length, removed }
    },
    values: async () => Object.assign({}, memory.values),
    count: async () => memory.rows.length,
    async visit(visitor, from) {
      memory.rows.every((row) => row.id < from || visitor(row))
    },
    close() {},
  }
}
