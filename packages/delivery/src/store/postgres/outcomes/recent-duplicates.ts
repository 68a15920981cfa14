import type { PostgresPool } from '@millrace/postgres'
import { indexesOf, PostgresStoredDuplicates } from '../postgres-duplicates.ts'

/** Records with duplicates that are read in one call, the newest. */
const RECORDS_TOGETHER = 200

/** A record with duplicates, as the owner of its shard has decided. */
export interface DecidedRecord {
  readonly partition: number
  readonly offset: number
  readonly indexes: readonly number[]
}

/**
 * Follows which events the owners of all shards find to be duplicates. It asks the database only when `next` is called. If owners decide
 * faster than it reads, it leaves out the older records.
 *
 * @see contracts/cluster.md §10 [K19]
 */
export class RecentDuplicates {
  readonly #pool: PostgresPool
  readonly #stored: PostgresStoredDuplicates
  /** By partition: decisions before the offset were read. */
  #reached: ReadonlyMap<number, number> = new Map()

  private constructor(pool: PostgresPool) {
    this.#pool = pool
    this.#stored = new PostgresStoredDuplicates(pool)
  }

  /** Follows from now on. */
  static async open(pool: PostgresPool): Promise<RecentDuplicates> {
    const recent = new RecentDuplicates(pool)
    recent.#reached = await recent.#stored.decidedTo()
    return recent
  }

  /** The duplicates that were decided since the last call, in order within a partition. */
  async next(): Promise<DecidedRecord[]> {
    const from = this.#reached
    const to = await this.#stored.decidedTo()
    const moved = [...to].filter(([partition, offset]) => offset > (from.get(partition) ?? 0))
    this.#reached = to
    if (moved.length === 0) return []
    // The rows are written together with the places, so all of these are there.
    const rows = await this.#pool.query<{ partition: number; offset: number; indexes: Buffer }>(DECIDED, [
      moved.map(([partition]) => partition),
      moved.map(([partition]) => from.get(partition) ?? 0),
      moved.map(([, offset]) => offset),
    ])
    return rows.toReversed().map((row) => ({ ...row, indexes: indexesOf(row.indexes) }))
  }
}

const DECIDED = `
  SELECT d.partition, d."offset", d.indexes
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS moved(partition, begun, ended)
  CROSS JOIN LATERAL (
    SELECT * FROM duplicate WHERE partition = moved.partition AND "offset" >= moved.begun AND "offset" < moved.ended
    ORDER BY "offset" DESC LIMIT ${RECORDS_TOGETHER}
  ) d ORDER BY d.partition DESC, d."offset" DESC LIMIT ${RECORDS_TOGETHER}`
