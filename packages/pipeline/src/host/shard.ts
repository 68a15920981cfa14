import type { DeadLetterRow, DurationCounts, JobPart, JourneyWrite, LaneStatus, Scope } from '@millrace/delivery'
import type { OffsetRange } from '@millrace/log'
import type { Waiting } from '@millrace/wording'
import type { DeliveryCounts } from '../delivery/delivery-metrics.ts'
import type { ShownOutcome } from '../events/outcomes-now.ts'
import type { FoundEvent } from '../events/search-calls.ts'
import type { TraceAsked } from '../events/traces.ts'
import type { ConfigurationChange } from '../following/configuration.ts'
import type { Removed } from '../following/removals.ts'
import type { SelectedEvent } from '../jobs/log/scan-calls.ts'
import type { ThreadLoad } from './thread-meter.ts'

/** What a shard still needs of one of its partitions. */
export interface PartitionNeeds {
  readonly partition: number
  /** The lowest offset that a reader of the shard needs; Infinity if it has read all of them. */
  readonly neededFrom: number
  /** Every reader of all records has passed this offset, and a restart knows it; Infinity if there are no more records. */
  readonly readUpTo: number
  /** The first offset in the backlog; undefined if the backlog of the partition is empty. */
  readonly keptFrom: number | undefined
}

/** The state of a destination in one shard. */
export interface ShardState {
  readonly destinationId: string
  readonly state: LaneStatus['outageState']
  /** Answer or status of the last failure; undefined if there was none. */
  readonly failure: string | undefined
  /** Ready, or not taken from the log yet. */
  readonly pending: number
  readonly retrying: number
  readonly throttled: number
  readonly blockedEvents: number
  readonly blockedUsers: number
  readonly hotId: { readonly id: string; readonly waiting: number } | null
  readonly concurrency: number
  /** Why its events wait; undefined if none waits. */
  readonly wait: Waiting | undefined
  /** Infinity if nothing waits. */
  readonly oldestPendingAt: number
  readonly waitingBytes: number
  /** Of the last 1,000 calls, in no order. */
  readonly recentDurations: Float64Array
}

/** What a destination does in one shard. */
export interface ShardActivity {
  /** Events without final outcome. */
  readonly waiting: number
  /** Of all calls since the start. */
  readonly durations: DurationCounts
}

/** Events of a replay that a shard starts together. */
export interface ReplayedTake {
  readonly jobId: string
  readonly part: Pick<JobPart, 'destinationId' | 'partition'>
  readonly events: readonly SelectedEvent[]
  readonly place: readonly [offset: number, index: number]
  readonly isAtEnd: boolean
}

/** A destination's share of the stored bytes in one shard. */
export interface WaitingShare {
  readonly destinationId: string
  readonly waitingBytes: number
}

/**
 * Some partitions of the log and everything that delivers their events. Several shards share one process or run in
 * threads: arguments and results therefore cross by structured clone, and every call is a promise.
 *
 * @see contracts/delivery.md §11a; decision 0106
 */
export interface Shard {
  readonly partitions: readonly number[]

  /** The replays of the last run are in the lanes again. */
  resumed(): Promise<void>

  /** Takes effect at the given ends of the log. @returns what was removed; the caller records it. */
  configure(change: ConfigurationChange): Promise<Removed[]>

  /** Waiting events of a scope, without dead letters. */
  waiting(scope: Scope): Promise<number>

  /** The traces of the events with a messageId. */
  trace(asked: TraceAsked): Promise<object[]>
  /** Outcomes of events of its partitions, parallel to the events. */
  outcomesNow(events: readonly FoundEvent[]): Promise<ShownOutcome[][]>
  /** The request of a dead letter without attempts of its own, if the configuration did not change since. */
  renderedRequest(letter: DeadLetterRow): Promise<{ method: string; endpoint: string; headers: object } | undefined>
  /** Parallel to the ids; undefined for unknown destinations. */
  states(destinationIds: readonly string[]): Promise<(ShardState | undefined)[]>
  /** Events without final outcome, and the durations of calls, by destination. @param destinationIds absent: all. */
  activity(destinationIds?: readonly string[]): Promise<ReadonlyMap<string, ShardActivity>>
  /** Counts since the start. */
  counts(): Promise<DeliveryCounts>

  /** Writes the message index and unneeded records away. @returns the needs of each partition. */
  needs(request: { readonly writesIndex: boolean; readonly dropsKept: boolean }): Promise<PartitionNeeds[]>
  /** Copies the records of a range that a destination still needs into the backlog. @returns their number. */
  keepUnfinished(range: OffsetRange & { readonly partition: number }): Promise<number>
  /** Forgets spans that end before all stored records. @param keptFrom by partition. */
  pruneSpans(keptFrom: readonly number[]): Promise<void>
  /** Stored bytes by destination; an event that waits for two of them counts in both. */
  waitingShares(): Promise<WaitingShare[]>
  /** Stored bytes of waiting events; each event counts once, however many destinations it waits for. */
  waitingBytes(): Promise<number>
  /**
   * Gives up the oldest waiting events. `isKept`: only events whose records are in the backlog, not in the log alone.
   *
   * @returns their number, 0 if none can be given up now, and about their stored bytes.
   */
  expireWaiting(request: {
    readonly destinationId: string
    readonly bytes: number
    readonly isKept?: boolean
  }): Promise<{ count: number; bytes: number }>

  /**
   * Starts events of a replay of the log.
   *
   * @returns how many were started, and left out by filters; undefined: removed.
   * @throws AbortError if it was abandoned: nothing was started.
   */
  takeReplayed(take: ReplayedTake): Promise<{ taken: number; filtered: number } | undefined>
  /** Ends the takes of a replay that still read the log. */
  abandonTakes(jobId: string): Promise<void>
  /** Passes events to the lanes again that a replay started before. */
  resumeReplayed(waits: readonly JourneyWrite[]): Promise<void>
  /** Starts replayed dead letters. */
  deliverLetters(letters: readonly DeadLetterRow[]): Promise<void>
  /** Takes the events of a replay out of the lanes. */
  withdrawReplayed(jobId: string): Promise<void>

  /** How busy the thread of the shard is. */
  load(): Promise<ThreadLoad>

  /** Writes all collected outcomes; resolves when they are on disk. */
  flush(): Promise<void>
  /** Why it does not deliver now; undefined if it does. */
  trouble(): Promise<string | undefined>
  /** Stops reading, waits for calls in flight until `deadline`, and writes the last outcomes. */
  stop(deadline: Promise<void>): Promise<void>
}
