import type { RequestHistory } from '../lane/delivery-history.ts'
import type { EventPlace } from '../lane/lane-event.ts'
import type { Position } from '../lane/progress.ts'
import type { JobCalls, ReplayedWrite, ReplayWait } from './jobs/job.ts'
import type { PlainOutcome } from './outcomes/outcome-block.ts'
import type { VersionsWrite } from './outcomes/version-table.ts'
import type { RunBefore, UnderWay } from './run-table.ts'

export interface DeliveryThreadData {
  readonly file: string
}

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

/** `internal`: our own code failed at the event. The order is part of the format: append only. */
export const STAGES = ['user_transformation', 'dest_transformation', 'delivery', 'internal'] as const
export type Stage = (typeof STAGES)[number]
export const DEAD_LETTER_STATES = ['open', 'replaying', 'resolved', 'discarded'] as const
export type DeadLetterState = (typeof DEAD_LETTER_STATES)[number]

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

export interface PositionWrite {
  readonly reader: string
  readonly partition: number
  readonly stream: number
  readonly position: Position
}

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

/** A row of an event's journey that is not needed any more. */
export interface ReplacedRow extends EventPlace {
  readonly destinationId: string
  readonly replayId: string | null
}

/** A wait, or the wait of a dead letter that is replayed. */
export interface WaitingPlace {
  readonly partition: number
  readonly offset: number
  readonly index: number
  readonly replayId: string | null
  readonly letterId: string | null
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

/** Versions of the user code that it went through, in their order. */
interface WithVersions {
  readonly versionIds: readonly string[]
}

/** What is recorded of an event at a destination. */
export type Recorded =
  | ({ kind: 'plain'; revision: number; replayId: string | null } & Omit<PlainOutcome, 'offset' | 'index'> &
      WithVersions)
  | ({ kind: 'journey' } & JourneyWrite & WithVersions)
  | ({ kind: 'dead_letter' } & DeadLetterRow)
  | { kind: 'range'; outcome: 'discarded' | 'expired'; reason: string }

export interface DeadLetterRow extends DeadLetterWrite, WithVersions {
  readonly id: string
  readonly state: DeadLetterState
  /** Why it ended, where that is not plain: what it belonged to was removed, a person discarded it, a replay left it out. */
  readonly endReason: string | null
  /** When it went over to its state; of one that was never anything but open, 0. */
  readonly stateAt: number
  /** Of one that is replaying, and has an attempt behind it. */
  readonly wait: ReplayWait | null
}

export interface DeadLetterFilter {
  readonly destinationId?: string | undefined
  readonly sourceId?: string | undefined
  readonly stage?: string | undefined
  readonly reason?: string | undefined
  readonly state?: string | undefined
  readonly userId?: string | undefined
  readonly messageId?: string | undefined
  /** Of `deadAt`, ms since 1970: `from` ≤ deadAt < `to`. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/** Dead letters that are alike in where, why and with which last answer they were given up. */
export interface DeadLetterGroup {
  readonly destinationId: string
  readonly stage: Stage
  readonly reason: string
  /** 0: there was no answer. */
  readonly lastStatus: number
  readonly count: number
  /** Of `deadAt`, ms since 1970. */
  readonly oldestAt: number
  readonly newestAt: number
}

export interface Span {
  readonly kind: 'connection' | 'disabled'
  /** Id of the connection or the destination. */
  readonly resource: string
  /** Empty for a destination's own span. */
  readonly sourceId: string
  readonly destinationId: string
  readonly partition: number
  readonly fromOffset: number
  readonly toOffset: number | null
}

/** A record that left the log before it was delivered everywhere; bytes and duplicates as the log has them. */
export interface KeptRecord {
  readonly offset: number
  readonly stream: number
  readonly sourceId: string
  /** Without duplicates. */
  readonly events: number
  readonly bytes: Uint8Array
  readonly duplicates: Uint8Array | null
}

/** What a destination holds on disk beside the log. */
export interface BacklogRow {
  readonly destinationId: string
  /** Open ones. */
  readonly letters: number
  readonly letterBytes: number
  /** Events of it that were given up by the system, ever. */
  readonly expired: number
}

export const SUBJECT_KINDS = ['source', 'transformation', 'destination'] as const
export type SubjectKind = (typeof SUBJECT_KINDS)[number]

/** What one source, transformation or destination did in a step of 300 s. */
export interface StatsRow {
  readonly kind: SubjectKind
  readonly id: string
  /** Five; what each is depends on the kind, and those that a kind does not have are 0. */
  readonly counts: readonly number[]
  readonly waiting: number
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
}

/** How many events of a destination came to an outcome for one reason. */
export interface StatsReason {
  readonly destinationId: string
  readonly outcome: string
  readonly reason: string
  readonly count: number
}

/** A step, or a further part of one: counts are added to what is stored of it. */
export interface StatsWrite {
  /** When it begins, ms since 1970. */
  readonly at: number
  /** Only those that did something. */
  readonly rows: readonly StatsRow[]
  readonly reasons: readonly StatsReason[]
  /** Newest event of sources. */
  readonly lastEvents: readonly (readonly [sourceId: string, at: number])[]
}

export interface Scope {
  readonly destinationId?: string | undefined
  readonly sourceId?: string | undefined
}

/** The functions of the delivery store's thread. */
export type DeliveryCalls = JobCalls & {
  open(nothing: undefined): void
  /** Writes all of it in one transaction or, if rows of it cannot be written, nothing. @returns those rows. */
  flush(flush: Flush): RefusedRow[]
  /** A run of the server begins: `endRun` is to follow. */
  beginRun(now: number): RunBefore
  /** It ends in order. */
  endRun(nothing: undefined): void
  noteUnderWay(event: UnderWay): void
  /** As `RunTable.countRead`. */
  countUnderWayRead(nothing: undefined): number
  clearUnderWay(nothing: undefined): void
  positions(nothing: undefined): PositionWrite[]
  /** What earlier attempts at waiting events were, parallel to them; empty where nothing is kept. */
  histories(of: { destinationId: string; events: readonly WaitingPlace[] }): RequestHistory[][]
  /** Waits of a destination in the order of their places (without `requests`), and the other places at or after its positions with an outcome. */
  resume(destinationId: string): { waiting: JourneyWrite[]; done: EventPlaceKey[] }
  spans(nothing: undefined): Span[]
  writeSpans(change: { put: readonly Span[]; remove: readonly Pick<Span, 'kind' | 'resource'>[] }): void
  /** Drops single spans, known by their resource and where they begin. */
  dropSpans(spans: readonly Pick<Span, 'kind' | 'resource' | 'partition' | 'fromOffset'>[]): void
  /** By destination, in the order in which it came: what is recorded of the first delivery, then of each replay of the log. */
  recorded(place: { partition: number; offset: number; index: number; sourceId: string }): [string, Recorded][]
  writeHashes(chunk: { partition: number; lastOffset: number; entries: Uint8Array; position: PositionWrite }): void
  findHash(hash: Uint8Array): { partition: number; offset: number; index: number }[]
  deadLetters(request: { filter: DeadLetterFilter; limit: number; before: number | null }): {
    rows: DeadLetterRow[]
    next: number | null
  }
  /** As `LetterGroups.of`. */
  deadLetterGroups(request: { filter: DeadLetterFilter; before: number | null }): {
    groups: DeadLetterGroup[]
    next: number | null
  }
  deadLetter(id: string): DeadLetterRow | undefined
  openDeadLetters(scope: Scope): number
  openDeadLettersByDestination(nothing: undefined): [string, number][]
  /** Up to when traces have been dropped, ms since 1970; undefined while all of them are there. */
  tracesDroppedUntil(nothing: undefined): number | undefined
  deliveredSince(request: { destinationId: string; hour: number }): number
  backlog(nothing: undefined): BacklogRow[]
  addStats(write: StatsWrite): void
  /** Steps from `from` up to, but without, `to`: which of them are known, and what subjects did in them. */
  readStats(request: { from: number; to: number; subjects: readonly (readonly [SubjectKind, string])[] }): {
    known: number[]
    /** Parallel to the subjects. */
    rows: (StatsRow & { at: number })[][]
  }
  /** @param destinationId all if it is left out. */
  readStatsReasons(request: { from: number; to: number; destinationId?: string | undefined }): StatsReason[]
  lastEvents(nothing: undefined): [string, number][]
  keepRecords(request: { partition: number; records: readonly KeptRecord[] }): void
  /** In order of their offsets; empty behind the last. */
  readKept(request: { partition: number; stream: number; from: number; maxBytes: number }): KeptRecord[]
  /** Those that are there. */
  getKept(request: { partition: number; offsets: readonly number[] }): KeptRecord[]
  tallyKept(request: {
    partition: number
    stream: number
    from: number
    to: number
  }): [string, { events: number; bytes: number }][]
  keptRanges(nothing: undefined): { partition: number; from: number; to: number }[]
  /** Nobody needs those before an offset any more. */
  dropKept(request: { partition: number; before: number }): void
  /** Records that what waited before an offset is given up, by source. Waits that are in flight stay. */
  expireWaiting(request: {
    destinationId: string
    partition: number
    before: number
    inFlight: readonly { offset: number; index: number }[]
    ranges: readonly RangeWrite[]
  }): void
  /** Gives up the oldest open dead letters of a destination until so many bytes are free, but only some hundred of them. */
  expireLetters(request: { destinationId: string; bytes: number; reason: string; at: number }): {
    count: number
    bytes: number
  }
  /** Records a range unless it is recorded already. */
  expireRange(range: RangeWrite): void
  discard(request: { scope: Scope; ranges: readonly RangeWrite[]; reason: string; at: number }): void
  tidy(request: {
    finalBefore: number
    logOldest: readonly { partition: number; offset: number }[]
    maxBytes: number
  }): void
  close(nothing: undefined): void
}

/** `partition:stream`, offset and index of an event that has its outcome, as numbers in a row. */
export type EventPlaceKey = readonly [partition: number, offset: number, index: number]
