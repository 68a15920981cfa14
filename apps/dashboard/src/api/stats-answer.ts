/** One value per step; null where it is not known, as while the server did not run. */
export type Series = readonly (number | null)[]

/** @see contracts/dashboard.md §4 N3 */
export interface Stats {
  readonly from: string
  readonly to: string
  readonly stepSeconds: number
  readonly sources: readonly {
    readonly id: string
    readonly accepted: Series
    readonly refused: Series
    readonly lastEventAt: string | null
  }[]
  readonly transformations: readonly {
    readonly id: string
    readonly in: Series
    readonly out: Series
    readonly errors: Series
    readonly p95Ms: Series
  }[]
  readonly destinations: readonly {
    readonly id: string
    readonly delivered: Series
    readonly filtered: Series
    readonly dropped: Series
    readonly deadLettered: Series
    readonly retries: Series
    readonly waiting: Series
    readonly p50Ms: Series
    readonly p95Ms: Series
    readonly p99Ms: Series
  }[]
  readonly reasons?: readonly {
    readonly destinationId: string
    readonly outcome: string
    readonly reason: string
    readonly count: number
  }[]
}
