/** The lease of a shard, as this process holds it; `Lease` of @millrace/postgres is one. */
export interface ShardLease {
  /** Of the shard. */
  readonly number: number
  readonly epoch: number
  /** Aborted when another process may own the shard. */
  readonly signal: AbortSignal
  /** Whether an attempt may start now. */
  mayStart(): boolean
}
