import type { Stats } from '../../api/stats.ts'

/** What is a rate now: long enough to be calm, short enough to be now. */
export const RATE_SECONDS = 60

export interface SourceActivity {
  /** Null: not known. */
  readonly perMinute: number | null
  readonly lastEventAt: string | null
}

/** What sources do, by their ids. @see contracts/dashboard.md §4 N3 */
export function activityBySource(stats: Stats | undefined): ReadonlyMap<string, SourceActivity> {
  const entries = (stats?.sources ?? []).map(({ id, accepted, lastEventAt }) => {
    const known = accepted.filter((count) => count !== null)
    const seconds = known.length * (stats?.stepSeconds ?? 0)
    const perMinute = seconds === 0 ? null : (known.reduce((sum, count) => sum + count, 0) / seconds) * 60
    return [id, { perMinute, lastEventAt }] as const
  })
  return new Map(entries)
}
