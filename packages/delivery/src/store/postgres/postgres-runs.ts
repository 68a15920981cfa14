import { type RunBefore, type ShardRuns, UNCLEAN_WITHIN_MS, type UnderWay } from '../run-store.ts'
import type { Transactions } from './transactions.ts'

export interface PostgresRunsOptions {
  readonly transactions: Transactions
  /** Whose runs they are, in every process: its name stays over restarts. */
  readonly name: string
  /** Only the owner of these partitions writes; empty: nothing is fenced. */
  readonly partitions: readonly number[]
}

/**
 * How earlier runs of a process, or of the owners of a shard, ended, and which event ran alone.
 *
 * @see decision 0071
 */
export class PostgresRuns implements ShardRuns {
  readonly #transactions: Transactions
  readonly #name: string
  readonly #partitions: readonly number[]
  #run: number | undefined

  constructor({ transactions, name, partitions }: PostgresRunsOptions) {
    this.#transactions = transactions
    this.#name = name
    this.#partitions = partitions
  }

  /** A stored time may be later than now: the clocks of the owners differ. Much later ones were written by a clock that was wrong. */
  begin(now: number): Promise<RunBefore> {
    const name = this.#name
    return this.#transactions.writeOwned(this.#partitions, async (queries) => {
      await queries.run('UPDATE run SET noticed_at = $2 WHERE process = $1 AND noticed_at IS NULL', [name, now])
      const drop = 'DELETE FROM run WHERE process = $1 AND (noticed_at <= $2 OR noticed_at > $3)'
      await queries.run(drop, [name, now - UNCLEAN_WITHIN_MS, now + UNCLEAN_WITHIN_MS])
      const [row] = await queries.rows<{ ends: number }>('SELECT count(*) AS ends FROM run WHERE process = $1', [name])
      const begun = 'INSERT INTO run (process, noticed_at) VALUES ($1, NULL) RETURNING id'
      this.#run = (await queries.rows<{ id: number }>(begun, [name]))[0]!.id
      const noted = await queries.rows<{ event: string }>('SELECT event FROM under_way WHERE process = $1', [name])
      return { uncleanEnds: row!.ends, underWay: noted[0] && (JSON.parse(noted[0].event) as UnderWay) }
    })
  }

  async end(): Promise<void> {
    await this.#transactions.writeOwned(this.#partitions, async (queries) => {
      await queries.run('DELETE FROM run WHERE process = $1 AND noticed_at IS NULL', [this.#name])
      await queries.run(CLEAR, [this.#name])
    })
  }

  async survived(): Promise<void> {
    if (this.#run !== undefined) await this.#transactions.pool.query('DELETE FROM run WHERE id = $1', [this.#run])
  }

  /** @see DeliveryStore.noteUnderWay */
  async note(event: UnderWay): Promise<void> {
    await this.#transactions.writeOwned(this.#partitions, (queries) =>
      queries.run(NOTE, [this.#name, JSON.stringify(event)]),
    )
  }

  async clear(): Promise<void> {
    await this.#transactions.writeOwned(this.#partitions, (queries) => queries.run(CLEAR, [this.#name]))
  }

  async countRead(): Promise<number> {
    return this.#transactions.writeOwned(this.#partitions, async (queries) => {
      const rows = await queries.rows<{ before: number }>(
        'UPDATE under_way SET reads = reads + 1 WHERE process = $1 RETURNING reads - 1 AS before',
        [this.#name],
      )
      return rows[0]?.before ?? 0
    })
  }
}

const NOTE = `
  INSERT INTO under_way (process, event, reads) VALUES ($1, $2, 0)
  ON CONFLICT (process) DO UPDATE SET event = excluded.event, reads = 0`
const CLEAR = 'DELETE FROM under_way WHERE process = $1'
