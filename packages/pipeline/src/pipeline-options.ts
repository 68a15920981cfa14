import type { DeliveryStore } from '@millrace/delivery'
import type { DestinationModule } from '@millrace/destinations'
import type { EventLog } from '@millrace/log'
import type { Clock, Logger } from '@millrace/std'
import type { NewClient } from './delivery/delivery-deps.ts'
import type { Configuration } from './following/configuration.ts'
import type { LiveUserCodeAccess } from './stages/live-user-code.ts'

export interface PipelineOptions {
  readonly log: EventLog
  readonly store: DeliveryStore
  readonly configuration: Configuration
  readonly findModule: (type: string) => DestinationModule | undefined
  /** The class of a source's type: `cordova`, `web` or `cloud`. */
  readonly sourceClass: (type: string) => string
  readonly newClient: NewClient
  readonly userCode: LiveUserCodeAccess
  readonly clock: Clock
  /** 0 ≤ random < 1. */
  readonly random: () => number
  readonly userAgent: string
  readonly memoryBytes: number
  readonly traces: { readonly keepMs: number; readonly maxBytes: number }
  readonly logKeepMs: number
  /** Another reader of the log, which keeps records that it has not read; the schema catalog has this type. */
  readonly otherReader: {
    neededFrom(partition: number): number
    /** Why the reader has stopped. */
    trouble(): string | undefined
  }
  /** Maximum bytes on disk for waiting events and open dead letters; 0: no limit. */
  readonly backlogMaxBytes: number
  /** Maximum bytes on disk for the log; 0: no limit. */
  readonly logMaxBytes: number
  /** Whether free space is under twice the floor; absent: never. */
  readonly isDiskShort?: () => boolean
  /**
   * From this number of unclean ends of the process within ten minutes, unfinished events run one at a time; 0: never.
   */
  readonly uncleanEnds: number
  /** For the audit log: the storage budget expired events of a destination. */
  readonly tellExpired: (destinationId: string, count: number) => void
  readonly logger: Logger
}
