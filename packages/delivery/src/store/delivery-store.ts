import type { MessagePort } from 'node:worker_threads'
import type { BacklogStore } from './backlog-store.ts'
import type { DeadLetterStore } from './dead-letter-store.ts'
import type { JobStore } from './job-store.ts'
import type { LaneOutcomes } from './lane-outcomes.ts'
import type { MessageStore } from './message-store.ts'
import type { OutcomeStore } from './outcome-store.ts'
import type { RunStore, UnderWay } from './run-store.ts'
import type { SpanStore } from './span-store.ts'
import type { StatisticsStore } from './statistics-store.ts'

/**
 * The durable side of delivery: positions, outcomes, waits, dead letters and the messageId index. Writes by noun are
 * whole on disk when they resolve; outcomes are gathered and written in flushes.
 *
 * @see contracts/delivery.md §11
 */
export interface DeliveryStore {
  readonly outcomes: OutcomeStore
  readonly deadLetters: DeadLetterStore
  readonly jobs: JobStore
  readonly backlog: BacklogStore
  readonly statistics: StatisticsStore
  readonly spans: SpanStore
  readonly messages: MessageStore
  readonly runs: RunStore
  /** Where a destination's lane puts its outcomes. */
  outcomesOf(destinationId: string): LaneOutcomes
  /**
   * Notes an event that is to run alone; it is on disk when this resolves. The note goes with the flush that holds the
   * outcome of the event.
   *
   * @param state says when its outcome, or its wait, is with the store.
   */
  noteUnderWay(event: UnderWay, state: { readonly isRecorded: boolean }): Promise<void>
  /** Writes what is gathered; resolves when all of it is on disk. @throws the fault after which nothing is written any more. */
  flush(): Promise<void>
  /** Drops traces before a time or beyond a size, and whatever the log no longer holds. */
  tidy(request: TidyRequest): Promise<void>
  /** Why outcomes cannot be written at the moment. */
  trouble(): string | undefined
  /** A port that answers `OutcomeCalls`, for a thread that looks at many events: @see OutcomesOfEvents. */
  outcomePort(): MessagePort
  /** Writes the last outcomes and ends. What cannot be written is delivered again after the next start. */
  close(): Promise<void>
}

export interface TidyRequest {
  /** Traces that ended before go, ms since 1970. */
  readonly finalBefore: number
  readonly logOldest: readonly { readonly partition: number; readonly offset: number }[]
  /** What traces may take. */
  readonly maxBytes: number
}
