import type {
  DestinationLimits,
  EventPlaceKey,
  Lane,
  LaneEvent,
  MemoryBudget,
  OutboundClient,
  Position,
  ShardStore,
} from '@millrace/delivery'
import type { DestinationModule } from '@millrace/destinations'
import type { LogReader, OffsetRange } from '@millrace/log'
import type { Clock, Logger } from '@millrace/std'
import type { LogTallies } from '../backlog/log-tallies.ts'
import type { LiveSink } from '../events/live-view.ts'
import type { Activity } from '../following/activity.ts'
import type { ConfiguredDestination } from '../following/configuration.ts'
import type { ParsedRecords } from '../reading/parsed-records.ts'
import type { LiveUserCodeAccess } from '../stages/live-user-code.ts'
import type { MetadataSource } from '../stages/user-metadata.ts'
import type { DeliveryMetrics } from './delivery-metrics.ts'

/** The dependencies that all destinations share. */
export interface DeliveryDeps {
  readonly log: LogReader
  /** Those of the shard. */
  readonly partitions: readonly number[]
  readonly store: ShardStore
  readonly clock: Clock
  readonly random: () => number
  readonly memory: MemoryBudget
  /** The limits of a destination, which all its lanes share. */
  readonly limitsOf: (destinationId: string) => DestinationLimits
  readonly parsed: ParsedRecords
  readonly metrics: DeliveryMetrics
  readonly tallies: LogTallies
  readonly userAgent: string
  readonly newClient: NewClient
  readonly moduleOf: (type: string) => DestinationModule
  /** Returns the same object until the source changes. */
  readonly sourceOf: (sourceId: string) => MetadataSource | undefined
  readonly userCode: LiveUserCodeAccess
  readonly tailAt: (partition: number) => number
  readonly backfillEnd: (partition: number) => number
  readonly live: LiveSink
  readonly onDelivered: (
    event: LaneEvent,
    destination: ConfiguredDestination,
    status: number,
    durationMs: number,
  ) => void
  /** A destination had not read a range that the log no longer has; resolves when that is recorded. */
  readonly onGap?: OnGap | undefined
  /** Why the log may have lost events; absent: a segment was damaged. */
  readonly lostReason?: string | undefined
  readonly logger: Logger
}

export type OnGap = (destinationId: string, activity: Activity, partition: number, gap: OffsetRange) => Promise<void>

/** @param options `maxAnswerBytes` for a destination whose code reads answers. */
export type NewClient = (options: { readonly maxAnswerBytes?: number }) => OutboundClient

/** The place where a destination continues after a restart; for a new destination, the end of the log. */
export interface StartingPoint {
  readonly start: (partition: number, stream: number) => Position
  readonly resumed: { readonly waiting: Parameters<Lane['resume']>[0]; readonly done: readonly EventPlaceKey[] }
}

/** @throws Error for a type that is not registered: the configuration has none. */
export function moduleOf(findModule: (type: string) => DestinationModule | undefined): DeliveryDeps['moduleOf'] {
  return (type) => {
    const module = findModule(type)
    if (module === undefined) throw new Error(`Unknown destination type ${type}`)
    return module
  }
}
