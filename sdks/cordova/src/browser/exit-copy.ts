import type { StoredRow } from './event-store.ts'
import { KEEPALIVE_BYTES } from './transport.ts'

/** As many rows as a store may hold. */
const MOST_IDS = 100_000

export interface ExitRow {
  readonly body: string
  readonly size: number
  /** Absent until it is committed. */
  id?: number
  isUnderWay: boolean
}

/**
 * The oldest unsent rows that this tab wrote, committed or not: all that can be sent when the page is left, because reading
 * the store takes longer than the page lives. At most 60 KiB.
 */
export class ExitCopy {
  private rows: ExitRow[] = []
  private bytes = 0
  private readonly ownIds = new Set<number>()
  /** A row did not fit; those behind it stay out as well, so that the oldest go first. */
  private isCut = false

  add(bodies: readonly { readonly body: string; readonly size: number }[]): readonly ExitRow[] {
    const added = bodies.map(({ body, size }): ExitRow => ({ body, size, isUnderWay: false }))
    for (const row of added) this.admit(row)
    return added
  }

  committed(rows: readonly ExitRow[], ids: readonly number[]): void {
    for (const [at, row] of rows.entries()) {
      row.id = ids[at]!
      this.ownIds.add(row.id)
    }
    for (const oldest of this.ownIds) {
      if (this.ownIds.size <= MOST_IDS) break
      this.ownIds.delete(oldest)
    }
  }

  isOwn(id: number): boolean {
    return this.ownIds.has(id)
  }

  isUnderWay(id: number): boolean {
    return this.rows.some((row) => row.isUnderWay && row.id === id)
  }

  /** Rows are gone: delivered, refused. */
  forget(ids: readonly number[]): void {
    for (const id of ids) this.ownIds.delete(id)
    this.keep((row) => row.id === undefined || !ids.includes(row.id))
  }

  clear(): void {
    this.ownIds.clear()
    this.keep(() => false)
    this.isCut = false
  }

  /** The oldest that fit and are not under way; they are from now on. */
  take(fits: (row: ExitRow) => boolean): readonly ExitRow[] {
    const taken: ExitRow[] = []
    for (const row of this.rows) {
      if (row.isUnderWay) continue
      if (!fits(row)) break
      row.isUnderWay = true
      taken.push(row)
    }
    return taken
  }

  release(rows: readonly ExitRow[]): void {
    for (const row of rows) row.isUnderWay = false
  }

  get hasRoomAgain(): boolean {
    return this.isCut && this.bytes < KEEPALIVE_BYTES / 2 && this.ownIds.size > this.rows.length
  }

  /** @param visit the queue, oldest first. */
  async refill(visit: (visitor: (row: StoredRow) => boolean) => Promise<void>): Promise<void> {
    const known = new Set(this.rows.map(({ id }) => id))
    this.isCut = false
    await visit(({ id, body, size }) => {
      if (this.ownIds.has(id) && !known.has(id)) this.admit({ id, body, size, isUnderWay: false })
      return !this.isCut
    })
  }

  private admit(row: ExitRow): void {
    if (this.isCut || this.bytes + row.size > KEEPALIVE_BYTES) {
      this.isCut = true
      return
    }
    this.rows.push(row)
    this.bytes += row.size
  }

  private keep(isKept: (row: ExitRow) => boolean): void {
    this.rows = this.rows.filter(isKept)
    this.bytes = this.rows.reduce((sum, { size }) => sum + size, 0)
  }
}
