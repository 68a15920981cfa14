import type { DestinationLimits, MemoryBudget, ShardStore } from '@millrace/delivery'
import type { DestinationModule } from '@millrace/destinations'
import type { LogReader } from '@millrace/log'
import type { Clock, Logger } from '@millrace/std'
import type { DeliveryDeps, NewClient, OnGap } from './delivery/delivery-deps.ts'
import type { DeliveryMetrics } from './delivery/delivery-metrics.ts'
import type { RunRecovery } from './delivery/run-recovery.ts'
import type { LiveSink } from './events/live-view.ts'
import type { Configuration } from './following/configuration.ts'
import type { LiveUserCodeAccess } from './stages/live-user-code.ts'

/** What the shards of one process share. */
export interface ShardDeps {
  readonly log: LogReader
  readonly store: ShardStore
  readonly findModule: (type: string) => DestinationModule | undefined
  /** The class of a source's type: `cordova`, `web` or `cloud`. */
  readonly sourceClass: (type: string) => string
  readonly newClient: NewClient
  readonly userCode: LiveUserCodeAccess
  readonly clock: Clock
  /** 0 ≤ random < 1. */
  readonly random: () => number
  readonly userAgent: string
  readonly memory: MemoryBudget
  /** The limits of a destination, which all its lanes share. */
  readonly limitsOf: (destinationId: string) => DestinationLimits
  readonly metrics: DeliveryMetrics
  readonly live: LiveSink
  readonly onDelivered: DeliveryDeps['onDelivered']
  /** A lane has finished an event of a replay. */
  readonly onReplayEnded: (jobId: string, destinationId: string) => void
  /** A destination had not read a range that the log no longer has; resolves when that is recorded. */
  readonly onGap?: OnGap | undefined
  /** Why the log may have lost events; absent: a segment was damaged. */
  readonly lostReason?: string | undefined
  readonly logger: Logger
}

export interface PipelineOptions extends ShardDeps {
  /** Those that it owns. */
  readonly partitions: readonly number[]
  /** The store already has its spans. */
  readonly configuration: Configuration
  /** After unclean ends: runs unfinished events one at a time. */
  readonly recovery?: Pick<RunRecovery, 'isOneAtATime' | 'runOneAtATime'> | undefined
}
