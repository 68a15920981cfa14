import type { MessagePort } from 'node:worker_threads'
import type { BacklogStore } from './backlog-store.ts'
import type { DeadLetterStore } from './dead-letter-store.ts'
import type { JobStore } from './job-store.ts'
import type { MessageStore } from './message-store.ts'
import type { OutcomeStore } from './outcome-store.ts'
import type { LaneOutcomes } from './outcomes/lane-outcomes.ts'
import type { RunStore, UnderWay } from './run-store.ts'
import type { SpanStore } from './span-store.ts'
import type { StatisticsStore } from './statistics-store.ts'

/**
 * The durable state of delivery: positions, outcomes, waits, dead letters and the messageId index. A write through one
 * of the noun interfaces is on disk when it resolves. Outcomes are collected and written in flushes.
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
  /** Collects the outcomes of a destination's lane. */
  outcomesOf(destinationId: string): LaneOutcomes
  /**
   * Records an event that will run alone; the record is on disk when the promise resolves. The flush that holds the
   * event's outcome removes it.
   *
   * @param state tells when the outcome, or the wait, of the event has reached the store.
   */
  noteUnderWay(event: UnderWay, state: { readonly isRecorded: boolean }): Promise<void>
  /** Writes all collected outcomes; resolves when they are on disk. @throws the fault that stopped all writing. */
  flush(): Promise<void>
  /** Deletes traces before a time or above a size, and rows whose events the log no longer holds. */
  tidy(request: TidyRequest): Promise<void>
  /** Why outcomes cannot be written now; undefined if they can. */
  trouble(): string | undefined
  /** A port that answers `OutcomeCalls`, for a thread that reads the outcomes of many events. @see OutcomesOfEvents */
  outcomePort(): MessagePort
  /** Writes the last outcomes and closes. Outcomes that cannot be written are delivered again after the next start. */
  close(): Promise<void>
}

/** The part of the store that a shard needs. */
export type ShardStore = Pick<
  DeliveryStore,
  'outcomes' | 'deadLetters' | 'jobs' | 'backlog' | 'spans' | 'messages' | 'outcomesOf' | 'flush' | 'trouble'
>

export interface TidyRequest {
  /** Traces that ended before this time are deleted, ms since 1970. */
  readonly finalBefore: number
  readonly logOldest: readonly { readonly partition: number; readonly offset: number }[]
  /** Maximum size of all traces. */
  readonly maxBytes: number
}
