import { leaseSchema, migrate, type PostgresPool } from '@millrace/postgres'
import type { TestSchema } from '@millrace/postgres/testing/test-schema'
import { type Clock, systemClock } from '@millrace/std'
import { SILENT } from '../../conformance/store-place.ts'
import type { ShardFence } from '../../shard-fence.ts'
import { PostgresDeliveryStore } from '../postgres-delivery-store.ts'
import { deliverySchema } from '../schema.ts'

/** A schema with the tables of the store and of the leases. */
export async function deliveryTestSchema(schema: TestSchema | Promise<TestSchema>): Promise<TestSchema> {
  const made = await schema
  await using pool = made.pool()
  await migrate(pool, [leaseSchema, deliverySchema])
  return made
}

/** A store with its pool, as one process has it. */
export interface StoreUnderTest extends AsyncDisposable {
  readonly store: PostgresDeliveryStore
  readonly pool: PostgresPool
}

export async function openStore(
  schema: TestSchema,
  options: { fence?: ShardFence; clock?: Clock; process?: string; pool?: Parameters<TestSchema['pool']>[0] } = {},
): Promise<StoreUnderTest> {
  const { fence, clock = systemClock, process = 'p1' } = options
  const pool = schema.pool(options.pool)
  const store = await PostgresDeliveryStore.open({ pool, process, clock, logger: SILENT, fence })
  const close = async () => {
    await store.close()
    await pool.end()
  }
  return { store, pool, [Symbol.asyncDispose]: close }
}

/** Leases that a test changes by hand; shard p is partition p. */
export class HeldShards implements ShardFence {
  readonly epochs: Map<number, number>
  readonly fenced: number[] = []

  constructor(epochs: readonly (readonly [shard: number, epoch: number])[]) {
    this.epochs = new Map(epochs)
  }

  shardOf(partition: number): number {
    return partition
  }

  epochOf(shard: number): number | undefined {
    return this.epochs.get(shard)
  }

  onFenced(shards: readonly number[]): void {
    this.fenced.push(...shards)
    for (const shard of shards) this.epochs.delete(shard)
  }
}

/** As a claim does. */
export async function setEpoch(pool: PostgresPool, shard: number, epoch: number): Promise<void> {
  await pool.query(
    `INSERT INTO lease (kind, number, owner, epoch) VALUES ('shard', $1, 'x', $2)
     ON CONFLICT (kind, number) DO UPDATE SET epoch = excluded.epoch`,
    [shard, epoch],
  )
}

/** What the tables hold of a destination, in one snapshot. */
export async function written(pool: PostgresPool, destinationId: string) {
  const [row] = await pool.query<{ plain: number; letters: number; delivered: number; position: number }>(
    `SELECT (SELECT coalesce(sum(octet_length(entries)) / 20, 0) FROM block WHERE destination = d.id)::bigint AS plain,
       (SELECT coalesce(sum(letters), 0) FROM (
          SELECT 1 AS letters FROM dead_letter WHERE destination = d.id
          UNION ALL SELECT letters FROM letter_range WHERE destination = d.id) l)::bigint AS letters,
       (SELECT coalesce(sum(delivered), 0) FROM delivered_by_hour WHERE destination = d.id)::bigint AS delivered,
       (SELECT coalesce(sum("offset"), 0) FROM position WHERE reader = d.id)::bigint AS position
     FROM (SELECT max(id) AS id FROM name WHERE name = $1) d`,
    [destinationId],
  )
  return row!
}
