import type { Stats } from '@millrace/api-types'
import { rateOf } from '../../components/figures/series.ts'

export interface SourceActivity {
  /** Null: unknown. */
  readonly perMinute: number | null
  readonly lastEventAt: string | null
}

/** Activity of sources, by id. @see contracts/dashboard.md §4 N3 */
export function activityBySource(stats: Stats | undefined): ReadonlyMap<string, SourceActivity> {
  const entries = (stats?.sources ?? []).map(({ id, accepted, lastEventAt }) => {
    const perSecond = rateOf(accepted, stats?.stepSeconds)
    return [id, { perMinute: perSecond === null ? null : perSecond * 60, lastEventAt }] as const
  })
  return new Map(entries)
}
