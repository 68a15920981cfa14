import type { EventPlace } from '../lane/queue/event-place.ts'

/** Older ends do not count. */
export const UNCLEAN_WITHIN_MS = 600_000

/** An event that runs alone: if the process ends, this event is the cause. */
export interface UnderWay extends EventPlace {
  readonly destinationId: string
  readonly sourceId: string
  readonly acceptedAt: number
  readonly sizeBytes: number
  /** The replay that the event belongs to. */
  readonly replayed: {
    readonly replayId: string
    readonly letterId?: string | undefined
    readonly acceptedAt: number
  } | null
}

/** What a start learns about earlier runs. */
export interface RunBefore {
  /** Number of runs that ended without a stop within the last ten minutes. */
  readonly uncleanEnds: number
  /** The event that ran alone when the last run ended. */
  readonly underWay: UnderWay | undefined
}

/** How earlier runs of the server ended, and which event ran alone. @see decision 0071 */
export interface RunStore {
  /** Begins a run; `end` ends it. @param now wall clock, ms since 1970. */
  begin(now: number): Promise<RunBefore>
  /** Ends the run in order. */
  end(): Promise<void>
  /** The noted event (@see DeliveryStore.noteUnderWay) has its outcome, or waits. */
  clear(): Promise<void>
  /** Counts that a start will read the payload of the noted event. @returns the number of earlier starts that did. */
  countRead(): Promise<number>
}

/** The runs of the owners of a shard, whichever processes they are. */
export interface ShardRuns extends RunStore {
  /** The process lives on, although it has lost the shard: this run is no unclean end. */
  survived(): Promise<void>
}
