import type { PostgresPool, Queries } from '@millrace/postgres'

export const DAY_MS = 24 * 3_600_000
/** Tables that have one partition for each day. */
export type DayTable = 'block' | 'message_hashes' | 'dedup_keys'
const DAY_TABLES: readonly DayTable[] = ['block', 'message_hashes', 'dedup_keys']
/** Writers wait at most this long for the removal of a day; a day that is in use is removed by a later call. */
const DROP_TIMEOUT_MS = 500

/** The day of a time, in days since 1970. */
export function dayOf(now: number): number {
  return Math.floor(now / DAY_MS)
}

/** The partitions of the tables that are divided by day: retention drops them whole. */
export class DayTables {
  readonly #pool: PostgresPool
  readonly #made = new Set<number>()

  constructor(pool: PostgresPool) {
    this.#pool = pool
  }

  /**
   * Makes the tables of a day if they are missing. They are attached, not created as partitions: this way no reader and no
   * writer waits for it.
   */
  async make(day: number): Promise<void> {
    if (this.#made.has(day)) return
    await this.#pool.transaction(async (queries) => {
      await lock(queries)
      for (const table of DAY_TABLES) {
        const name = nameOf(table, day)
        const [found] = await queries.rows<{ found: boolean }>('SELECT to_regclass($1) IS NOT NULL AS found', [name])
        if (found!.found) continue
        await queries.run(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL)`)
        await queries.run(`ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES IN (${day})`)
      }
    })
    this.#made.add(day)
  }

  /** Another process may have dropped a day: the next write looks again. */
  forget(): void {
    this.#made.clear()
  }

  /** Oldest first, with their size on disk. */
  async list(table: DayTable): Promise<{ day: number; bytes: number }[]> {
    const rows = await this.#pool.query<{ name: string; bytes: number }>(
      `SELECT child.relname AS name, pg_total_relation_size(child.oid) AS bytes
       FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid WHERE inhparent = $1::regclass`,
      [table],
    )
    return rows
      .map(({ name, bytes }) => ({ day: Number(name.slice(table.length + 1)), bytes }))
      .sort((a, b) => a.day - b.day)
  }

  /**
   * @param begin the transaction begins with it.
   * @returns false if the table is in use.
   */
  async drop(table: DayTable, day: number, begin: (queries: Queries) => Promise<void>): Promise<boolean> {
    try {
      await this.#pool.transaction(async (queries) => {
        await begin(queries)
        await queries.rows(`SELECT set_config('lock_timeout', $1, true)`, [`${DROP_TIMEOUT_MS}`])
        await lock(queries)
        await queries.run(`DROP TABLE IF EXISTS ${nameOf(table, day)}`)
      })
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== '55P03') throw error
      return false
    } finally {
      this.forget()
    }
  }
}

/** Such as block_20516. */
export function nameOf(table: DayTable, day: number): string {
  return `${table}_${day}`
}

/** One process at a time changes the days. */
async function lock(queries: Queries): Promise<void> {
  await queries.rows(`SELECT pg_advisory_xact_lock(hashtextextended('millrace days ' || current_schema(), 0))`)
}
