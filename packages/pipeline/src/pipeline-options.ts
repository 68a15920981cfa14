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
  /** Another reader of the log, which keeps what it has not passed; the schema catalog fits. */
  readonly otherReader: {
    neededFrom(partition: number): number
    /** Why it does not go on. */
    trouble(): string | undefined
  }
  /** What waits, with open dead letters, may take on disk; 0: no bound. */
  readonly backlogMaxBytes: number
  /** What the log may take on disk; 0: no bound. */
  readonly logMaxBytes: number
  /** Free space is under twice the floor; left out: never. */
  readonly isDiskShort?: () => boolean
  /** From so many unclean ends of the process within ten minutes on, unfinished events run one at a time; 0: never. */
  readonly uncleanEnds: number
  /** For the audit log: events of a destination were given up for the storage budget. */
  readonly tellExpired: (destinationId: string, count: number) => void
  readonly logger: Logger
}
