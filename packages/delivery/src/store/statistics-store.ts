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

/** Steps of 300 s of the last 7 days. */
export interface StatisticsStore {
  add(write: StatsWrite): Promise<void>
  /** Steps from `from` up to, but without, `to`: which of them are known, and what subjects did in them. */
  read(request: { from: number; to: number; subjects: readonly (readonly [SubjectKind, string])[] }): Promise<{
    known: number[]
    /** Parallel to the subjects. */
    rows: (StatsRow & { at: number })[][]
  }>
  /** @param request of all destinations if `destinationId` is left out. */
  reasons(request: { from: number; to: number; destinationId?: string | undefined }): Promise<StatsReason[]>
  lastEvents(): Promise<[sourceId: string, at: number][]>
}
