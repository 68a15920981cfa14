import type { Queries } from '@millrace/postgres'
import { FencedError, type ShardFence } from '../shard-fence.ts'

export interface OwnedShard {
  readonly number: number
  readonly epoch: number
}

/**
 * Locks the leases that this process still holds: a claim of one of them waits until the transaction ends. The order of the
 * locks is that of the numbers, as in every transaction that locks several leases.
 *
 * @param shards SQL of a JSON list of `OwnedShard`.
 */
export function lockLeases(shards: string): string {
  return `
    SELECT lease.number FROM lease JOIN json_to_recordset(${shards}::json) AS own(number bigint, epoch bigint)
      ON lease.kind = 'shard' AND lease.number = own.number AND lease.epoch = own.epoch
    ORDER BY lease.number FOR KEY SHARE OF lease`
}

/** The fence of a transaction: the epochs under which this process owns the shards of some partitions. */
export function ownedShards(
  fence: ShardFence,
  partitions: Iterable<number>,
): { readonly owned: OwnedShard[]; readonly lost: number[] } {
  return ownedOf(
    fence,
    Array.from(partitions, (partition) => fence.shardOf(partition)),
  )
}

function ownedOf(
  fence: ShardFence,
  shards: Iterable<number>,
): { readonly owned: OwnedShard[]; readonly lost: number[] } {
  const owned: OwnedShard[] = []
  const lost: number[] = []
  for (const number of new Set(shards)) {
    const epoch = fence.epochOf(number)
    if (epoch === undefined) lost.push(number)
    else owned.push({ number, epoch })
  }
  return { owned, lost }
}

/**
 * Locks the leases of the shards of some partitions for a transaction.
 *
 * @returns the shards that another process owns.
 */
export function lostShards(queries: Queries, fence: ShardFence, partitions: Iterable<number>): Promise<number[]> {
  return lostOf(queries, ownedShards(fence, partitions))
}

async function lostOf(queries: Queries, { owned, lost }: ReturnType<typeof ownedShards>): Promise<number[]> {
  if (owned.length === 0) return lost
  const held = await queries.rows<{ number: number }>(lockLeases('$1'), [JSON.stringify(owned)])
  const numbers = new Set(held.map(({ number }) => number))
  return [...lost, ...owned.filter(({ number }) => !numbers.has(number)).map(({ number }) => number)]
}

/** Begins a transaction that writes state of the shards of some partitions. @throws FencedError */
export async function assertOwned(
  queries: Queries,
  fence: ShardFence | undefined,
  partitions: Iterable<number>,
): Promise<void> {
  if (fence === undefined) return
  refuseLost(fence, await lostShards(queries, fence, partitions))
}

/** As `assertOwned`, for shards by their numbers. @throws FencedError */
export async function assertShardsOwned(
  queries: Queries,
  fence: ShardFence | undefined,
  shards: Iterable<number>,
): Promise<void> {
  if (fence === undefined) return
  refuseLost(fence, await lostOf(queries, ownedOf(fence, shards)))
}

function refuseLost(fence: ShardFence, lost: readonly number[]): void {
  if (lost.length === 0) return
  fence.onFenced(lost)
  throw new FencedError(lost)
}
