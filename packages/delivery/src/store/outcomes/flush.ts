import type { RequestHistory } from '../../lane/history/request-history.ts'
import type { EventPlace } from '../../lane/queue/event-place.ts'
import type { Position } from '../../lane/queue/position.ts'
import type { DROPPED, FilterReason } from './outcome-block.ts'

/** Plain outcomes of one destination under one revision of its configuration, 20 bytes each. */
export interface BlockWrite {
  readonly destinationId: string
  readonly partition: number
  readonly revision: number
  /** Id of the replay that delivered these events; null for the first delivery. */
  readonly replayId: string | null
  readonly firstOffset: number
  readonly lastOffset: number
  readonly lastAt: number
  readonly entries: Uint8Array
}

export const JOURNEY_OUTCOMES = ['waiting', 'delivered', 'expired'] as const

/** A wait, or a final outcome with attempts; replaces the earlier record of the event. */
export interface JourneyWrite extends EventPlace {
  readonly destinationId: string
  /** As `BlockWrite.replayId`. */
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

/** A row of an event's journey to delete. */
export interface ReplacedRow extends EventPlace {
  readonly destinationId: string
  readonly replayId: string | null
}

/** The versions of user code that a destination had under a revision of its configuration. */
export interface VersionsWrite {
  readonly destinationId: string
  readonly revision: number
  /** In execution order; not empty. */
  readonly versionIds: readonly string[]
}

/** Everything that one transaction writes. */
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
  /** The partition of the event that runs alone, if this flush ends it; else empty. */
  readonly rested: readonly { readonly partition: number }[]
}

/** A row of a flush that the database refuses because of its content, independent of the disk. */
export interface RefusedRow {
  readonly part: keyof Flush
  /** Index in its part of the flush. */
  readonly at: number
  /** Text for the log. */
  readonly cause: string
}

/** What became of a flush: only `written` changed the database. */
export type FlushAnswer =
  | { readonly kind: 'written' }
  | { readonly kind: 'refused'; readonly rows: readonly RefusedRow[] }
  /** Another process owns these shards. @see ShardFence */
  | { readonly kind: 'fenced'; readonly shards: readonly number[] }

/** `internal`: our own code failed on the event. The order is part of the format: append only. */
export const STAGES = ['user_transformation', 'dest_transformation', 'delivery', 'internal'] as const
export type Stage = (typeof STAGES)[number]

export interface DeadLetterWrite extends EventPlace {
  readonly destinationId: string
  /** The last replay of the event, of the log or of dead letters; null if there was none. */
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

/** The new state of a dead letter that is replaying. A dead letter in another state stays unchanged. */
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

/** The versions of user code that ran on it, in execution order. */
export interface WithVersions {
  readonly versionIds: readonly string[]
}
