import type { AnswerClass } from '@millrace/protocol'
import type { Clock } from '@millrace/std'
import type { OutboundClient } from '../outbound/outbound-client.ts'
import type { AnswerHeaders, OutboundRequest } from '../outbound/outbound-request.ts'
import type { ThrottleRule } from '../pace/throttle.ts'
import type { Stage } from '../store/dead-letter-store.ts'
import type { LaneOutcomes } from '../store/lane-outcomes.ts'
import type { RequestHistory, ShownRequest } from './delivery-history.ts'
import type { LaneEvent } from './lane-event.ts'
import type { MemoryBudget } from './memory-budget.ts'
import type { Transform } from './transformed.ts'

/** The `delivery` member of a destination, as far as a lane heeds it. */
export interface LaneSettings {
  /** Most calls in flight, 1 to 1,000. */
  readonly concurrency: number
  readonly ordering: 'strict' | 'none'
  readonly throttle: ThrottleRule | null
  readonly keepAnswers: 'failed' | 'all'
  /** Revision of the destination's configuration: kept with each outcome. */
  readonly revision: number
}

/** An event made ready to be sent: its requests, and how they may be shown. */
export type Prepared =
  | {
      readonly requests: readonly OutboundRequest[]
      /** The request without secrets. */
      show(request: OutboundRequest): ShownRequest
      /** A text of the destination without secrets. */
      mask(text: string): string
      readonly classify: Classify | undefined
    }
  | { readonly stage: Stage; readonly error: string }

/** Judges an answer where the status alone would mislead (contracts/destinations.md §7). */
export type Classify = (answer: {
  status: number
  headers: Record<string, string>
  body: unknown
}) => AnswerClass | undefined

export interface LaneOptions {
  readonly destinationId: string
  readonly clock: Clock
  /** 0 ≤ random < 1, for the spread of waits. */
  readonly random: () => number
  readonly client: OutboundClient
  readonly outcomes: LaneOutcomes
  readonly memory: MemoryBudget
  readonly settings: LaneSettings
  /** User code that runs over events before `prepare`; undefined where there is none. */
  readonly transform: Transform | undefined
  /** Runs the destination transformation over `event.transformed`, else over `event.payload`; never throws. */
  readonly prepare: (event: LaneEvent) => Prepared
  /** Reads payloads again; those that the log has lost come back undefined. */
  readonly load: (events: readonly LaneEvent[]) => Promise<LaneEvent['payload'][]>
  /** As `PayloadsOptions.loadHistories`. */
  readonly loadHistories: (events: readonly LaneEvent[]) => Promise<readonly RequestHistory[][]>
  /** There is room for more events than before. */
  readonly onRoom: () => void
  readonly onAttempt: (answerClass: AnswerClass) => void
  /** A final outcome, with the last answer's status (0: none) and duration; its payload is still there. */
  readonly onOutcome: (
    outcome: 'delivered' | 'dropped_by_transformation' | 'dead_lettered' | 'expired',
    event: LaneEvent,
    status: number,
    durationMs: number,
    reason: string | null,
  ) => void
  /** An attempt failed and there will be another one; the payload is still there. */
  readonly onRetry: (event: LaneEvent, status: number, durationMs: number) => void
  /** A text of the destination's code without secrets. */
  readonly mask: (text: string) => string
  readonly logger: {
    info(fields: object, text: string): void
    warn(fields: object, text: string): void
    error(fields: object, text: string): void
  }
}

/** One header as a single text; undefined when it did not come. */
export function headerText(headers: AnswerHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}
