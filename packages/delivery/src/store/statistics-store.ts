import type { DurationCounts } from '../pace/duration-counts.ts'

export const SUBJECT_KINDS = ['source', 'transformation', 'destination'] as const
export type SubjectKind = (typeof SUBJECT_KINDS)[number]

/** Activity of one source, transformation or destination in a step of 300 s. */
export interface StatsRow {
  readonly kind: SubjectKind
  readonly id: string
  /** Five counts; their meaning depends on the kind, unused ones are 0. */
  readonly counts: readonly number[]
  readonly waiting: number
  /** Calls or runs in the step. */
  readonly durations: DurationCounts
}

/** Number of events of a destination that reached an outcome for one reason. */
export interface StatsReason {
  readonly destinationId: string
  readonly outcome: string
  readonly reason: string
  readonly count: number
}

/** A step, or another part of it: counts and durations are added to the stored ones, `waiting` replaces the stored number. */
export interface StatsWrite {
  /** Start of the step, ms since 1970. */
  readonly at: number
  /** Only active subjects. */
  readonly rows: readonly StatsRow[]
  readonly reasons: readonly StatsReason[]
  /** Newest event of sources. */
  readonly lastEvents: readonly (readonly [sourceId: string, at: number])[]
}

/** Steps of 300 s over the last 7 days. */
export interface StatisticsStore {
  add(write: StatsWrite): Promise<void>
  /** Steps with `from` ≤ start < `to`: which of them are stored, and the activity of subjects in them. */
  read(request: { from: number; to: number; subjects: readonly (readonly [SubjectKind, string])[] }): Promise<{
    known: number[]
    /** Parallel to the subjects. */
    rows: (StatsRow & { at: number })[][]
  }>
  /** @param request without `destinationId`: all destinations. */
  reasons(request: { from: number; to: number; destinationId?: string | undefined }): Promise<StatsReason[]>
  lastEvents(): Promise<[sourceId: string, at: number][]>
}
