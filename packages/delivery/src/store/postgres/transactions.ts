import { setTimeout as delay } from 'node:timers/promises'
import { type PostgresPool, PostgresUnavailableError, type Queries } from '@millrace/postgres'
import type { ShardFence } from '../shard-fence.ts'
import { assertOwned } from './lease-fence.ts'

/** Time to learn what became of a commit whose answer was lost. */
const IN_DOUBT_MS = 10_000
const ASK_AGAIN_MS = 250
/** A transaction that Postgres ended because of another one is repeated this often. */
const MAX_REPEATS = 3

/**
 * Transactions of the delivery store. Nothing may be written twice, and nothing that was written may be taken for lost:
 * if the connection breaks during a commit, the outcome is asked for over another connection.
 */
export class Transactions {
  readonly pool: PostgresPool
  readonly fence: ShardFence | undefined

  /** @param fence of the shards that this process owns; undefined: nothing is fenced. */
  constructor(pool: PostgresPool, fence: ShardFence | undefined) {
    this.pool = pool
    this.fence = fence
  }

  /** As `write`, for state of the shards of some partitions. @throws FencedError: then nothing was written. */
  writeOwned<T>(partitions: Iterable<number>, work: (queries: Queries) => Promise<T>): Promise<T> {
    return this.write(async (queries) => {
      await assertOwned(queries, this.fence, partitions)
      return work(queries)
    })
  }

  /**
   * Runs work in one transaction. It runs again if Postgres ended it because of a deadlock.
   *
   * @throws PostgresUnavailableError if Postgres does not answer: then nothing was written, unless it stays away for so
   *   long that this cannot be known.
   */
  write<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    return repeated(() => this.#write(work))
  }

  async #write<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    const connection = await this.pool.connect()
    let id = ''
    let finished: { readonly result: T } | undefined
    try {
      return await connection.transaction(async (queries) => {
        id = (await queries.rows<{ id: string }>('SELECT pg_current_xact_id()::text AS id'))[0]!.id
        const result = await work(queries)
        finished = { result }
        return result
      })
    } catch (error) {
      if (finished === undefined || !(error instanceof PostgresUnavailableError)) throw error
      if (!(await this.#isCommitted(id, error))) throw error
      return finished.result
    } finally {
      connection.release()
    }
  }

  async #isCommitted(id: string, cause: PostgresUnavailableError): Promise<boolean> {
    const deadline = performance.now() + IN_DOUBT_MS
    while (performance.now() < deadline) {
      try {
        const [row] = await this.pool.query<{ status: string }>('SELECT pg_xact_status($1::xid8) AS status', [id])
        if (row!.status !== 'in progress') return row!.status === 'committed'
      } catch (error) {
        if (!(error instanceof PostgresUnavailableError)) throw error
      }
      await delay(ASK_AGAIN_MS)
    }
    throw cause
  }
}

/** Deadlock, serialization failure, lock not available in time. */
const OF_ANOTHER_TRANSACTION: ReadonlySet<unknown> = new Set(['40P01', '40001', '55P03'])

/** Repeats work that Postgres ended because of another transaction. */
export async function repeated<T>(work: () => Promise<T>): Promise<T> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await work()
    } catch (error) {
      if (repeats === MAX_REPEATS || !OF_ANOTHER_TRANSACTION.has((error as NodeJS.ErrnoException).code)) throw error
    }
  }
}
