import type { DeliveryStore, DestinationLimits, DuplicateStore, PlaceStore, ShardRuns, Span } from '@millrace/delivery'
import type { DeliveryMetrics } from '../delivery/delivery-metrics.ts'
import type { Configuration } from '../following/configuration.ts'
import type { ShardDeps } from '../pipeline-options.ts'
import type { ClusterLog } from './cluster-log.ts'
import type { OwnedMarks } from './duplicates/owned-marks.ts'
import type { HeldShard } from './held-shard.ts'
import type { ShardLease } from './shard-lease.ts'

/** A configuration with the stored spans of its resources. */
export interface SpannedConfiguration {
  readonly configuration: Configuration
  readonly spans: readonly Span[]
}

export interface OwnedShardsOptions
  extends Omit<ShardDeps, 'log' | 'store' | 'memory' | 'limitsOf' | 'onDelivered' | 'onReplayEnded' | 'metrics'> {
  readonly log: ClusterLog
  readonly store: DeliveryStore & {
    readonly duplicates: DuplicateStore
    readonly places: PlaceStore
    runsOf(shard: number): ShardRuns
  }
  /** From this number of unclean ends of its owners, the unfinished events of a shard run one at a time; 0: never. */
  readonly uncleanEnds: number
  /** Those that the log shows. */
  readonly marks: OwnedMarks
  /** Called once for each record with duplicates. */
  readonly onDuplicates: (sourceId: string, acceptedAt: number, count: number) => void
  readonly metrics: DeliveryMetrics
  readonly memoryBytes: number
  /** The limits of each destination, for all its lanes in this process. */
  readonly limits: { of(destinationId: string): DestinationLimits; forget(destinationId: string): void }
  /** The newest stored configuration. @throws if it cannot be read now. */
  readonly newest: () => Promise<SpannedConfiguration>
  /** Time that calls in flight have when a shard is given back. */
  readonly shutdownMs: number
  /** The fence refused a write of this shard. */
  readonly onFenced: (lease: ShardLease) => void
  /** A shard begins or has ended. */
  readonly onShards: (change: ShardChange) => void | Promise<void>
  /** A lane of a shard has finished an event of a replay. */
  readonly onReplayEnded: (shard: number, jobId: string, destinationId: string) => void
}

/** `isLost`: another process may own it; else it ends in order, and its lanes still work. */
export type ShardChange =
  | { readonly kind: 'begun'; readonly shard: HeldShard }
  | { readonly kind: 'ending'; readonly shard: HeldShard; readonly isLost: boolean }
