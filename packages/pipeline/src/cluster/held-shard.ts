import type { Pipeline } from '../pipeline.ts'
import type { ShardDedup } from './duplicates/shard-dedup.ts'
import type { ShardLease } from './shard-lease.ts'

/** A shard that delivers in this process. */
export interface HeldShard {
  readonly lease: ShardLease
  readonly dedup: ShardDedup
  readonly pipeline: Pipeline
}
