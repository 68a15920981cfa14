import type { RequestHistory } from '../lane/request-history.ts'
import type { DeadLetterRow, Scope } from './dead-letter-store.ts'
import type { JourneyWrite, PositionWrite, WithVersions } from './flush.ts'
import type { PlainOutcome } from './outcome-block.ts'

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

/** A wait, or the wait of a dead letter that is replayed. */
export interface WaitingPlace {
  readonly partition: number
  readonly offset: number
  readonly index: number
  readonly replayId: string | null
  readonly letterId: string | null
}

/** What is recorded of an event at a destination. */
export type Recorded =
  | ({ kind: 'plain'; revision: number; replayId: string | null } & Omit<PlainOutcome, 'offset' | 'index'> &
      WithVersions)
  | ({ kind: 'journey' } & JourneyWrite & WithVersions)
  | ({ kind: 'dead_letter' } & DeadLetterRow)
  | { kind: 'range'; outcome: 'discarded' | 'expired'; reason: string }

/** `partition:stream`, offset and index of an event that has its outcome, as numbers in a row. */
export type EventPlaceKey = readonly [partition: number, offset: number, index: number]

/** What became of events. Outcomes themselves are written by flushes, @see DeliveryStore.outcomesOf. */
export interface OutcomeStore {
  positions(): Promise<PositionWrite[]>
  /** Waits of a destination in the order of their places (without `requests`), and the other places at or after its positions with an outcome. */
  resume(destinationId: string): Promise<{ waiting: JourneyWrite[]; done: EventPlaceKey[] }>
  /** What earlier attempts at waiting events were, parallel to them; empty where nothing is kept. */
  histories(of: { destinationId: string; events: readonly WaitingPlace[] }): Promise<RequestHistory[][]>
  /** By destination, in the order in which it came: what is recorded of the first delivery, then of each replay of the log. */
  recorded(place: {
    partition: number
    offset: number
    index: number
    sourceId: string
  }): Promise<[destinationId: string, Recorded][]>
  /** Up to when traces have been dropped, ms since 1970; undefined while all of them are there. */
  droppedUntil(): Promise<number | undefined>
  deliveredSince(request: { destinationId: string; hour: number }): Promise<number>
  /** Records that what waited before an offset is given up, by source. Waits that are in flight stay. */
  expireWaiting(request: {
    destinationId: string
    partition: number
    before: number
    inFlight: readonly { offset: number; index: number }[]
    ranges: readonly RangeWrite[]
  }): Promise<void>
  /** Records a range unless it is recorded already. */
  expireRange(range: RangeWrite): Promise<void>
  /** Records ranges as discarded; open dead letters and waits of the scope end. */
  discard(request: { scope: Scope; ranges: readonly RangeWrite[]; reason: string; at: number }): Promise<void>
}
