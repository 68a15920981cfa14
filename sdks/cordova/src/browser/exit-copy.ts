import type { Attempt } from './batch.ts'
import type { StoredRow } from './event-database.ts'
import { KEEPALIVE_BYTES } from './http.ts'

/** As many rows as a store may hold. */
const MAX_IDS = 100_000

export interface ExitRow {
  readonly body: string
  readonly size: number
  /** Absent until it is committed. */
  id?: number
  isUnderWay?: boolean
}

/**
 * The oldest unsent rows that this tab wrote, committed or not: all that can be sent when the page is left, because reading
 * the store takes longer than the page lives. At most 60 KiB.
 */
export function newExitCopy() {
  let rows: ExitRow[] = []
  let bytes = 0
  /** A row did not fit; those behind it stay out as well, so that the oldest go first. */
  let isCut = false
  /** The newest row of which a request has begun, and the newest of the batch that is under way. */
  let triedUpTo = 0
  let sendingUpTo = 0
  const ownIds = new Set<number>()

  const admit = (row: ExitRow) => {
    isCut = isCut || bytes + row.size > KEEPALIVE_BYTES
    if (isCut) return
    rows.push(row)
    bytes += row.size
  }
  const keep = (isKept: (row: ExitRow) => boolean) => {
    rows = rows.filter(isKept)
    bytes = rows.reduce((sum, { size }) => sum + size, 0)
  }

  return {
    add(added: readonly { readonly body: string; readonly size: number }[]): readonly ExitRow[] {
      const copies = added.map(({ body, size }): ExitRow => ({ body, size }))
      copies.forEach(admit)
      return copies
    },
    /** @param firstAt where their ids begin. */
    committed(copies: readonly ExitRow[], ids: readonly number[], firstAt: number) {
      copies.forEach((row, at) => {
        row.id = ids[firstAt + at]!
        ownIds.add(row.id)
        const [oldest] = ownIds
        if (ownIds.size > MAX_IDS) ownIds.delete(oldest!)
      })
    },
    isOwn: (id: number) => ownIds.has(id),
    /**
     * What a batch of the drain is; it is under way from now on. Rows of another page may have left with its exit batch.
     *
     * @param ids ascending.
     */
    begins(ids: readonly number[]): Attempt {
      const isFirst = ids.every((id) => ownIds.has(id) && id > triedUpTo)
      sendingUpTo = ids[ids.length - 1]!
      triedUpTo = Math.max(triedUpTo, sendingUpTo)
      return isFirst ? 'first' : 'repeat'
    },
    /** It was answered, or failed. */
    ended() {
      sendingUpTo = 0
    },
    isUnderWay: (id: number) => rows.some((row) => row.isUnderWay && row.id === id),
    /** Rows are gone: delivered, refused. */
    forget(ids: readonly number[]) {
      for (const id of ids) ownIds.delete(id)
      keep(({ id }) => id === undefined || !ids.includes(id))
    },
    clear() {
      ownIds.clear()
      keep(() => false)
      isCut = false
    },
    /** Whether one of these was in a request before. */
    wasTried: (taken: readonly ExitRow[]) => taken.some((row) => row.id! <= triedUpTo),
    /** The oldest that fit and are not under way; they are from now on. */
    take(fits: (row: ExitRow, taken: readonly ExitRow[]) => boolean): readonly ExitRow[] {
      const taken: ExitRow[] = []
      rows.every((row) => {
        if (row.isUnderWay || row.id! <= sendingUpTo) return true
        if (!fits(row, taken)) return false
        row.isUnderWay = true
        return taken.push(row)
      })
      return taken
    },
    release(taken: readonly ExitRow[]) {
      for (const row of taken) {
        row.isUnderWay = false
        triedUpTo = Math.max(triedUpTo, row.id || 0)
      }
    },
    /** When there is room again. @param visit the queue, oldest first. */
    async refill(visit: (visitor: (row: StoredRow) => boolean, from: number) => Promise<void>): Promise<void> {
      if (!isCut || bytes >= KEEPALIVE_BYTES / 2 || ownIds.size <= rows.length) return
      isCut = false
      const [oldest] = ownIds
      await visit(({ id, body, size }) => {
        if (ownIds.has(id) && !rows.some((row) => row.id === id)) admit({ id, body, size })
        return !isCut
      }, oldest!)
    },
  }
}
