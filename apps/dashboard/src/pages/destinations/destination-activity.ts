import type { Stats } from '../../api/stats.ts'

/** What is a rate now: long enough to be calm, short enough to be now. */
export const RATE_SECONDS = 60

/** Deliveries a minute of each destination, by its id; null where nothing is known. @see contracts/dashboard.md §4 N3 */
export function deliveredPerMinute(stats: Stats | undefined): ReadonlyMap<string, number | null> {
  return new Map(
    (stats?.destinations ?? []).map(({ id, delivered }) => {
      const known = delivered.filter((count) => count !== null)
      const seconds = known.length * (stats?.stepSeconds ?? 0)
      return [id, seconds === 0 ? null : (known.reduce((sum, count) => sum + count, 0) / seconds) * 60]
    }),
  )
}
