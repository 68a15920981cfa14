import type { AnswerClass } from '@millrace/protocol'
import type { Clock } from '@millrace/std'
import type { DestinationLimits } from '../limits/destination-limits.ts'
import type { OutboundClient } from '../outbound/outbound-client.ts'
import type { AnswerHeaders } from '../outbound/outbound-request.ts'
import type { ThrottleRule } from '../pace/throttle.ts'
import type { LaneOutcomes } from '../store/outcomes/lane-outcomes.ts'
import type { RequestHistory } from './history/request-history.ts'
import type { MemoryBudget } from './memory-budget.ts'
import type { Prepared } from './prepared.ts'
import type { LaneEvent } from './queue/lane-event.ts'
import type { Transform } from './transform.ts'

/** The members of a destination's `delivery` that a lane uses. */
export interface LaneSettings {
  /** Maximum calls in flight, 1 to 1,000. */
  readonly concurrency: number
  readonly ordering: 'strict' | 'none'
  readonly throttle: ThrottleRule | null
  readonly keepAnswers: 'failed' | 'all'
  /** Maximum events of a batch; 1: events travel alone. */
  readonly batchEvents: number
  /** Revision of the destination's configuration, stored with each outcome. */
  readonly revision: number
}

/** Sends the requests of a lane. */
export type LaneClient = Pick<OutboundClient, 'send' | 'close'>

export interface LaneOptions {
  readonly destinationId: string
  readonly clock: Clock
  /** 0 ≤ random < 1, for jitter. */
  readonly random: () => number
  readonly client: LaneClient
  /** Shared by all lanes of the destination. */
  readonly limits: DestinationLimits
  readonly outcomes: LaneOutcomes
  readonly memory: MemoryBudget
  readonly settings: LaneSettings
  /** User code that runs before `prepare`; undefined if there is none. */
  readonly transform: Transform | undefined
  /** Runs the destination transformation on `event.transformed`, else on `event.payload`; never throws. */
  readonly prepare: (event: LaneEvent) => Prepared
  /** Reads payloads from the log; undefined for events that the log has lost. */
  readonly load: (events: readonly LaneEvent[]) => Promise<LaneEvent['payload'][]>
  /** Why a log may have lost events. Default: a segment was damaged. */
  readonly lostReason?: string | undefined
  /** As `PayloadsOptions.loadHistories`. */
  readonly loadHistories: (events: readonly LaneEvent[]) => Promise<readonly RequestHistory[][]>
  /** Called when the lane has room for more events. */
  readonly onRoom: () => void
  readonly onAttempt: (answerClass: AnswerClass) => void
  /** Called with a final outcome and the last answer's status (0: none) and duration, while the payload is in memory. */
  readonly onOutcome: (
    outcome: 'delivered' | 'dropped_by_transformation' | 'dead_lettered' | 'expired',
    event: LaneEvent,
    status: number,
    durationMs: number,
    reason: string | null,
  ) => void
  /** Called when an attempt failed and will be retried, while the payload is in memory. */
  readonly onRetry: (event: LaneEvent, status: number, durationMs: number) => void
  /** Masks secrets in a text from the destination's code. */
  readonly mask: (text: string) => string
  readonly logger: {
    info(fields: object, text: string): void
    warn(fields: object, text: string): void
    error(fields: object, text: string): void
  }
}

/** A header as one text; undefined if absent. */
export function headerText(headers: AnswerHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}
