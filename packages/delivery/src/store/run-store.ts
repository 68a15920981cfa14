import type { EventPlace } from '../lane/event-place.ts'

/** Ends further back say nothing of the next one. */
export const UNCLEAN_WITHIN_MS = 600_000

/** An event that runs alone: if the process ends meanwhile, it was this one. */
export interface UnderWay extends EventPlace {
  readonly destinationId: string
  readonly sourceId: string
  readonly acceptedAt: number
  readonly sizeBytes: number
  /** Of the replay that it is part of. */
  readonly replayed: {
    readonly replayId: string
    readonly letterId?: string | undefined
    readonly acceptedAt: number
  } | null
}

/** What a start finds of the runs before it. */
export interface RunBefore {
  /** Runs that ended otherwise than by a stop, within the last ten minutes. */
  readonly uncleanEnds: number
  /** The event that ran alone when the last run ended. */
  readonly underWay: UnderWay | undefined
}

/** How the runs of the server ended, and what the last one was at. @see decision 0071 */
export interface RunStore {
  /** A run begins: `end` is to follow. @param now wall clock, ms since 1970. */
  begin(now: number): Promise<RunBefore>
  /** It ends in order. */
  end(): Promise<void>
  /** What is noted (@see DeliveryStore.noteUnderWay) has its outcome, or waits. */
  clear(): Promise<void>
  /** Counts that a start is about to read the payload of what is noted. @returns how often that was begun before. */
  countRead(): Promise<number>
}
