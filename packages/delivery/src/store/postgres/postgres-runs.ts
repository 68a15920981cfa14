import { type RunBefore, type RunStore, UNCLEAN_WITHIN_MS, type UnderWay } from '../run-store.ts'
import type { Transactions } from './transactions.ts'

/** How earlier runs of this process ended, and which event ran alone. @see decision 0071 */
export class PostgresRuns implements RunStore {
  readonly #transactions: Transactions
  readonly #process: string

  /** @param process name of the process that stays over its restarts. */
  constructor(transactions: Transactions, process: string) {
    this.#transactions = transactions
    this.#process = process
  }

  /** A stored time later than now was written before the clock was set back. */
  begin(now: number): Promise<RunBefore> {
    const process = this.#process
    return this.#transactions.write(async (queries) => {
      await queries.run('UPDATE run SET noticed_at = $2 WHERE process = $1 AND noticed_at IS NULL', [process, now])
      const drop = 'DELETE FROM run WHERE process = $1 AND (noticed_at <= $2 OR noticed_at > $3)'
      await queries.run(drop, [process, now - UNCLEAN_WITHIN_MS, now])
      const [row] = await queries.rows<{ ends: number }>('SELECT count(*) AS ends FROM run WHERE process = $1', [
        process,
      ])
      await queries.run('INSERT INTO run (process, noticed_at) VALUES ($1, NULL)', [process])
      const noted = await queries.rows<{ event: string }>('SELECT event FROM under_way WHERE process = $1', [process])
      return { uncleanEnds: row!.ends, underWay: noted[0] && (JSON.parse(noted[0].event) as UnderWay) }
    })
  }

  async end(): Promise<void> {
    await this.#transactions.write(async (queries) => {
      await queries.run('DELETE FROM run WHERE process = $1 AND noticed_at IS NULL', [this.#process])
      await queries.run(CLEAR, [this.#process])
    })
  }

  /** @see DeliveryStore.noteUnderWay */
  async note(event: UnderWay): Promise<void> {
    await this.#transactions.pool.query(
      `INSERT INTO under_way (process, event, reads) VALUES ($1, $2, 0)
       ON CONFLICT (process) DO UPDATE SET event = excluded.event, reads = 0`,
      [this.#process, JSON.stringify(event)],
    )
  }

  async clear(): Promise<void> {
    await this.#transactions.pool.query(CLEAR, [this.#process])
  }

  async countRead(): Promise<number> {
    return this.#transactions.write(async (queries) => {
      const rows = await queries.rows<{ before: number }>(
        'UPDATE under_way SET reads = reads + 1 WHERE process = $1 RETURNING reads - 1 AS before',
        [this.#process],
      )
      return rows[0]?.before ?? 0
    })
  }
}

const CLEAR = 'DELETE FROM under_way WHERE process = $1'
