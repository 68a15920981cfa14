import type { Series, Stats } from '@millrace/api-types'
import { useStats } from '../../api/stats.ts'
import { summed, sumOf } from '../../components/figures/series.ts'
import { withoutGaps } from './without-gaps.ts'

/** With more nodes the short steps would be megabytes. */
const FINE_NODES = 100
const STEPS_OF_A_MINUTE = 6
const COURSES_POLL_MS = 120_000
const TOTALS_POLL_MS = 30_000

interface Courses {
  /** Accepted or delivered events of every node over time, by id. */
  readonly courses: ReadonlyMap<string, Series>
  /** Of the whole range, including the unfinished step; undefined until they are loaded. */
  readonly totals: { readonly accepted: number; readonly delivered: number } | undefined
}

/**
 * Events over the chosen range. Long steps are on disk and survive a restart; short steps show more detail of the last
 * hour, where they are known.
 *
 * @param nodes their number, which determines the steps; undefined until it is loaded.
 */
export function useCourses(range: '1h' | '24h', nodes: number | undefined): Courses {
  const isEnabled = nodes !== undefined
  const seconds = range === '24h' ? 86_400 : 3600
  const long = useStats({ seconds, step: 300, hasCurrentStep: true }, { pollMs: TOTALS_POLL_MS, isEnabled }).data
  const isFine = range === '1h' && isEnabled && nodes <= FINE_NODES
  const fine = useStats({ seconds: 3600, step: 10 }, { pollMs: COURSES_POLL_MS, isEnabled: isFine }).data
  const courses = new Map(long === undefined ? [] : seriesOf(long))
  if (isFine && fine !== undefined) {
    for (const [id, values] of seriesOf(fine)) {
      const minutes = { end: Date.parse(fine.to), stepMs: 60_000, values: summed(values, STEPS_OF_A_MINUTE) }
      const steps = long && { end: Date.parse(long.to), stepMs: 300_000, values: courses.get(id) ?? [] }
      courses.set(id, steps === undefined ? minutes.values : withoutGaps(minutes, steps))
    }
  }
  const total = (of: readonly Series[]) => of.reduce((sum, values) => sum + sumOf(values), 0)
  const totals = long && {
    accepted: total(long.sources.map(({ accepted }) => accepted)),
    delivered: total(long.destinations.map(({ delivered }) => delivered)),
  }
  return { courses, totals }
}

function seriesOf({ sources, destinations }: Stats): (readonly [string, Series])[] {
  return [
    ...sources.map(({ id, accepted }) => [id, accepted] as const),
    ...destinations.map(({ id, delivered }) => [id, delivered] as const),
  ]
}
