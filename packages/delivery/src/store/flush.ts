import type { EventPlace } from '../lane/event-place.ts'
import type { Position } from '../lane/position.ts'
import type { RequestHistory } from '../lane/request-history.ts'
import type { DROPPED, FilterReason } from './outcome-block.ts'

/** Plain outcomes of one destination under one revision of its configuration, 20 bytes each. */
export interface BlockWrite {
  readonly destinationId: string
  readonly partition: number
  readonly revision: number
  /** Of the replay of the log whose outcomes they are; null: of the first delivery. */
  readonly replayId: string | null
  readonly firstOffset: number
  readonly lastOffset: number
  readonly lastAt: number
  readonly entries: Uint8Array
}

export const JOURNEY_OUTCOMES = ['waiting', 'delivered', 'expired'] as const

/** A wait, or a final outcome with attempts; replaces what was said of the event before. */
export interface JourneyWrite extends EventPlace {
  readonly destinationId: string
  /** As in `BlockWrite`. */
  readonly replayId: string | null
  readonly sourceId: string
  readonly outcome: (typeof JOURNEY_OUTCOMES)[number]
  readonly reason: string | null
  readonly acceptedAt: number
  readonly sizeBytes: number
  readonly userKey: number
  readonly anonymousKey: number
  readonly attempts: number
  readonly deliveredRequests: number
  readonly firstAttemptAt: number | null
  readonly dueAt: number | null
  readonly requests: readonly RequestHistory[] | null
  readonly revision: number
  readonly at: number
}

export interface PositionWrite {
  readonly reader: string
  readonly partition: number
  readonly stream: number
  readonly position: Position
}

/** A row of an event's journey that is not needed any more. */
export interface ReplacedRow extends EventPlace {
  readonly destinationId: string
  readonly replayId: string | null
}

/** Which versions of user code a destination had under a revision of its configuration. */
export interface VersionsWrite {
  readonly destinationId: string
  readonly revision: number
  /** In their order; not empty. */
  readonly versionIds: readonly string[]
}

/** Everything that is written together, in one transaction. */
export interface Flush {
  readonly blocks: readonly BlockWrite[]
  readonly journeys: readonly JourneyWrite[]
  /** Rows that a plain outcome in a block replaces. */
  readonly replaced: readonly ReplacedRow[]
  readonly deadLetters: readonly DeadLetterWrite[]
  readonly replayed: readonly ReplayedWrite[]
  readonly positions: readonly PositionWrite[]
  readonly versions: readonly VersionsWrite[]
  readonly delivered: readonly { destinationId: string; hour: number; count: number }[]
  /** One if the event that runs alone has come to rest with this flush, else none. */
  readonly rested: readonly true[]
}

/** A row of a flush that cannot be written as it is, whatever the disk does. */
export interface RefusedRow {
  readonly part: keyof Flush
  /** In its part of the flush. */
  readonly at: number
  /** For the log. */
  readonly cause: string
}

/** `internal`: our own code failed at the event. The order is part of the format: append only. */
export const STAGES = ['user_transformation', 'dest_transformation', 'delivery', 'internal'] as const
export type Stage = (typeof STAGES)[number]

export interface DeadLetterWrite extends EventPlace {
  readonly destinationId: string
  /** Of the replay that took it up last, of the log or of dead letters; null if there was none. */
  readonly replayId: string | null
  readonly sourceId: string
  readonly stage: Stage
  readonly reason: string
  readonly acceptedAt: number
  readonly deadAt: number
  readonly attempts: number
  readonly lastStatus: number
  readonly lastAnswer: string | null
  readonly revision: number
  readonly requests: readonly RequestHistory[] | null
  /** JSON of the stored event. */
  readonly event: string
}

/** What becomes of a dead letter that is replaying. One that is in another state by now stays as it is. */
export type ReplayedWrite = { readonly letterId: string } & (
  | { readonly kind: 'journey'; readonly journey: JourneyWrite }
  | { readonly kind: 'dead_letter'; readonly letter: DeadLetterWrite }
  | {
      readonly kind: 'left_out'
      readonly reason: FilterReason | typeof DROPPED
      readonly at: number
      readonly revision: number
    }
)

/** Versions of the user code that it went through, in their order. */
export interface WithVersions {
  readonly versionIds: readonly string[]
}
