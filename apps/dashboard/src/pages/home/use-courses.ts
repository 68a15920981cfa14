import { type Series, useStats } from '../../api/stats.ts'
import { summed } from '../../components/figures/series.ts'

/** Above so many nodes the fine steps of all of them would be megabytes. */
const FINE_NODES = 100

/**
 * The course of accepted or delivered events of every node, by id.
 *
 * @param nodes how many there are; undefined while that is not known, and so not in which steps to ask.
 */
export function useCourses(range: '1h' | '24h', nodes: number | undefined): ReadonlyMap<string, Series> {
  const isFine = range === '1h' && nodes !== undefined && nodes <= FINE_NODES
  const asked =
    range === '24h' ? ({ seconds: 86_400, step: 300 } as const) : ({ seconds: 3600, step: isFine ? 10 : 300 } as const)
  const { data } = useStats(asked, { pollMs: 120_000, isEnabled: nodes !== undefined })
  const course = (values: Series) => (isFine ? summed(values, 6) : values)
  return new Map([
    ...(data?.sources.map(({ id, accepted }) => [id, course(accepted)] as const) ?? []),
    ...(data?.destinations.map(({ id, delivered }) => [id, course(delivered)] as const) ?? []),
  ])
}
