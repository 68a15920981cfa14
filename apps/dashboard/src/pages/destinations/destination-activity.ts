import type { Stats } from '@millrace/api-types'
import { rateOf } from '../../components/figures/series.ts'

/** Deliveries a minute of each destination, by its id; null where nothing is known. @see contracts/dashboard.md §4 N3 */
export function deliveredPerMinute(stats: Stats | undefined): ReadonlyMap<string, number | null> {
  return new Map(
    (stats?.destinations ?? []).map(({ id, delivered }) => {
      const perSecond = rateOf(delivered, stats?.stepSeconds)
      return [id, perSecond === null ? null : perSecond * 60]
    }),
  )
}
