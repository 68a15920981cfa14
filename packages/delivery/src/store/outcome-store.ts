import type { RequestHistory } from '../lane/history/request-history.ts'
import type { DeadLetterRow, Scope } from './dead-letter-store.ts'
import type { JourneyWrite, PositionWrite, WithVersions } from './outcomes/flush.ts'
import type { PlainOutcome } from './outcomes/outcome-block.ts'

/**
 * Maximum gap between two ranges of one destination and source that are merged: the events in the gap have their own
 * outcomes.
 */
export const MAX_BETWEEN_RANGES = 10_000

export interface RangeWrite {
  readonly destinationId: string
  readonly sourceId: string | null
  readonly partition: number
  readonly fromOffset: number
  readonly toOffset: number
  readonly outcome: 'discarded' | 'expired'
  readonly reason: string
  readonly count: number
  readonly at: number
}

/** A wait of an event, or of a replayed dead letter. */
export interface WaitingPlace {
  readonly partition: number
  readonly offset: number
  readonly index: number
  readonly replayId: string | null
  readonly letterId: string | null
}

/** The record of an event at a destination. */
export type Recorded =
  | ({ kind: 'plain'; revision: number; replayId: string | null } & Omit<PlainOutcome, 'offset' | 'index'> &
      WithVersions)
  | ({ kind: 'journey' } & JourneyWrite & WithVersions)
  | ({ kind: 'dead_letter' } & DeadLetterRow)
  | { kind: 'range'; outcome: 'discarded' | 'expired'; reason: string }

/** Place of an event that has an outcome; `partition` stands for `partition:stream`. */
export type EventPlaceKey = readonly [partition: number, offset: number, index: number]

export interface PartitionOffset {
  readonly partition: number
  readonly offset: number
}

/** The part of a range from an offset on, with its part of the count; undefined if the range ends before. */
export function rangeFrom(range: RangeWrite, offset: number): RangeWrite | undefined {
  const { fromOffset, toOffset, count } = range
  if (offset <= fromOffset) return range
  if (offset >= toOffset) return undefined
  return { ...range, fromOffset: offset, count: Math.ceil((count * (toOffset - offset)) / (toOffset - fromOffset)) }
}

/** Outcomes of events. Flushes write the outcomes themselves, @see DeliveryStore.outcomesOf. */
export interface OutcomeStore {
  positions(): Promise<PositionWrite[]>
  /**
   * Waits of a destination in some partitions, in each ordered by place (without `requests`), and the other places at or after
   * its positions that have an outcome.
   */
  resume(of: {
    destinationId: string
    partitions: readonly number[]
  }): Promise<{ waiting: JourneyWrite[]; done: EventPlaceKey[] }>
  /** Earlier attempts of waiting events, parallel to the events; empty if none are stored. */
  histories(of: { destinationId: string; events: readonly WaitingPlace[] }): Promise<RequestHistory[][]>
  /** By destination, in order of time: the first delivery, then each replay of the log. */
  recorded(place: {
    partition: number
    offset: number
    index: number
    sourceId: string
  }): Promise<[destinationId: string, Recorded][]>
  /** Traces are deleted up to this time, ms since 1970; undefined if all of them exist. */
  droppedUntil(): Promise<number | undefined>
  deliveredSince(request: { destinationId: string; hour: number }): Promise<number>
  /**
   * Records the events of each source that waited before an offset as given up, and the positions that pass them. Waits in flight
   * stay.
   */
  expireWaiting(request: {
    destinationId: string
    partition: number
    before: number
    inFlight: readonly { offset: number; index: number }[]
    ranges: readonly RangeWrite[]
    positions: readonly PositionWrite[]
  }): Promise<void>
  /**
   * Records what a destination had not read of a partition when the log lost it. Of each source and reason, what lies before the end
   * of an earlier record is recorded already: losses are found in the order of the log, and again after a crash.
   *
   * @param lost ranges of one destination and partition, each with its source.
   * @returns the number of events that were not recorded before.
   */
  expireLost(lost: readonly RangeWrite[]): Promise<number>
  /** Records a range unless it exists. */
  expireRange(range: RangeWrite): Promise<void>
  /**
   * Records ranges as discarded; the open and replaying dead letters and the waits of a scope in some partitions end.
   *
   * @param request `keptFrom`: what lies there or later stays, because a later connection of the same pair took it.
   * @returns the number of open dead letters that ended.
   */
  discard(request: {
    scope: Scope
    partitions: readonly number[]
    keptFrom?: readonly PartitionOffset[] | undefined
    ranges: readonly RangeWrite[]
    reason: string
    at: number
  }): Promise<number>
}
