import { assertHeld, type HeldLease, type PostgresPool, type Queries } from '@millrace/postgres'
import type { ShardFence } from '../shard-fence.ts'
import { assertOwned, ownedShards } from './lease-fence.ts'

/** A transaction that Postgres ended because of another one is repeated this often. */
const MAX_REPEATS = 3

/** Transactions of the delivery store: nothing is written twice, and nothing that was written is taken for lost. */
export class Transactions {
  readonly pool: PostgresPool
  readonly fence: ShardFence | undefined
  readonly #lease: HeldLease | undefined

  /**
   * @param fence of the shards that this process owns; undefined: nothing is fenced.
   * @param lease of a single task: without it nothing is written.
   */
  constructor(pool: PostgresPool, fence: ShardFence | undefined, lease?: HeldLease) {
    this.pool = pool
    this.fence = fence
    this.#lease = lease
  }

  /** The same, each of them only while this process holds the lease. They throw LeaseLostError once it does not. */
  under(lease: HeldLease): Transactions {
    return new Transactions(this.pool, this.fence, lease)
  }

  /**
   * As `write`, for state of the shards of some partitions. Its callers repeat what failed, so it waits for the outcome of a commit
   * while this process owns the shards; the next owner reads what was stored.
   *
   * @throws FencedError: then nothing was written.
   */
  writeOwned<T>(partitions: Iterable<number>, work: (queries: Queries) => Promise<T>): Promise<T> {
    const { fence } = this
    const written = [...partitions]
    const owned = async (queries: Queries) => {
      await this.#assertHeld(queries)
      await assertOwned(queries, fence, written)
      return work(queries)
    }
    const isOwner = () => fence !== undefined && ownedShards(fence, written).lost.length === 0
    return repeated(() => this.pool.write(owned, isOwner))
  }

  /**
   * Runs work in one transaction. It runs again if Postgres ended it because of a deadlock.
   *
   * @throws PostgresUnavailableError as `PostgresPool.write` does.
   */
  write<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    const held = async (queries: Queries) => {
      await this.#assertHeld(queries)
      return work(queries)
    }
    return repeated(() => this.pool.write(held))
  }

  async #assertHeld(queries: Queries): Promise<void> {
    if (this.#lease !== undefined) await assertHeld(queries, this.#lease)
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
