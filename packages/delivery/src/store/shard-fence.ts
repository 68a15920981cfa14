/**
 * The shards that this process owns, for a store that several processes write. The store writes the state of a shard
 * only under the epoch of its owner: a process that lost a shard and does not know it yet writes nothing of it.
 *
 * @see decision 0107
 */
export interface ShardFence {
  /** The shard that a partition belongs to. */
  shardOf(partition: number): number
  /** The epoch under which this process owns a shard; undefined: it does not own it. */
  epochOf(shard: number): number | undefined
  /**
   * The database refused a write, because another process owns these shards. Called before anything of them counts as
   * written: the owner of the lanes drops their state at once, and starts no attempt.
   */
  onFenced(shards: readonly number[]): void
}

/** Nothing was written: another process owns these shards. */
export class FencedError extends Error {
  override name = 'FencedError'
  readonly code = 'FENCED'
  readonly shards: readonly number[]

  constructor(shards: readonly number[]) {
    super(`another process owns shard ${shards.join(', ')}`)
    this.shards = shards
  }
}
