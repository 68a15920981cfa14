import type { Series, Stats } from '@millrace/api-types'
import { stepTimes } from '../../../components/chart/chart-series.ts'
import { greatest, summed, sumOf } from '../../../components/figures/series.ts'

/** The ten-second steps of an hour are shown as minutes. */
const STEPS_OF_A_MINUTE = 6

type CountName = 'delivered' | 'filtered' | 'dropped' | 'deadLettered'
type GaugeName = 'waiting' | 'p50Ms' | 'p95Ms' | 'p99Ms'

/** What one destination did in a range. */
export interface OverviewFigures {
  /** Of each step, milliseconds since 1970. */
  readonly times: readonly number[]
  readonly counts: Readonly<Record<CountName, Series>>
  readonly gauges: Readonly<Record<GaugeName, Series>>
  readonly sums: Readonly<Record<CountName, number>>
  /** By outcome, most frequent first. */
  readonly reasons: ReadonlyMap<string, readonly { readonly reason: string; readonly count: number }[]>
}

const COUNTS = ['delivered', 'filtered', 'dropped', 'deadLettered'] as const
const GAUGES = ['waiting', 'p50Ms', 'p95Ms', 'p99Ms'] as const

export function overviewFigures(stats: Stats, id: string): OverviewFigures {
  const of = stats.destinations.find((destination) => destination.id === id)
  const size = stats.stepSeconds === 10 ? STEPS_OF_A_MINUTE : 1
  const counts = each(COUNTS, (name) => summed(of?.[name] ?? [], size))
  const reasons = (stats.reasons ?? []).toSorted((a, b) => b.count - a.count)
  return {
    times: stepTimes(stats.to, stats.stepSeconds * size, counts.delivered.length),
    counts,
    gauges: each(GAUGES, (name) => greatest(of?.[name] ?? [], size)),
    sums: each(COUNTS, (name) => sumOf(of?.[name] ?? [])),
    reasons: Map.groupBy(
      reasons.filter(({ destinationId }) => destinationId === id),
      ({ outcome }) => outcome,
    ),
  }
}

function each<Name extends string, Value>(names: readonly Name[], value: (name: Name) => Value): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, value(name)])) as Record<Name, Value>
}
