import {
  addedDurations,
  durationPercentiles,
  type StatsReason,
  type StatsRow,
  type SubjectKind,
} from '@millrace/delivery'

/** The meaning of each count of a `StatsRow`, by kind of its subject. */
export const COUNTS = {
  source: ['accepted', 'refused'],
  transformation: ['in', 'out', 'errors'],
  destination: ['delivered', 'filtered', 'dropped', 'deadLettered', 'retries'],
} as const satisfies Record<SubjectKind, readonly string[]>

const SHOWN_FURTHER = {
  source: [],
  transformation: ['p95Ms'],
  destination: ['waiting', 'p50Ms', 'p95Ms', 'p99Ms'],
} as const satisfies Record<SubjectKind, readonly string[]>

/** Activity of one subject in a step; an inactive subject has none. */
export type Figures = Pick<StatsRow, 'counts' | 'waiting' | 'durations'>

/** The figures from `at` on, for the length of a step. */
export interface StatsStep {
  readonly at: number
  /** By `subjectKey`; inactive subjects are absent. */
  readonly figures: ReadonlyMap<string, Figures>
  readonly reasons: readonly StatsReason[]
}

export function subjectKey(kind: SubjectKind, id: string): string {
  return `${kind} ${id}`
}

/** Joins two parts of one step. @param later its gauges apply. */
export function addedFigures(earlier: Figures | undefined, later: Figures | undefined): Figures {
  const [a, b] = [earlier ?? NOTHING, later ?? NOTHING]
  return {
    counts: [0, 1, 2, 3, 4].map((i) => (a.counts[i] ?? 0) + (b.counts[i] ?? 0)),
    waiting: later === undefined ? a.waiting : b.waiting,
    durations: addedDurations(a.durations, b.durations),
  }
}

/** Reasons of several steps, without repetitions. */
export function addedReasons(all: Iterable<StatsReason>): StatsReason[] {
  const sums = new Map<string, StatsReason>()
  for (const each of all) {
    const key = JSON.stringify([each.destinationId, each.outcome, each.reason])
    const known = sums.get(key)
    sums.set(key, known === undefined ? each : { ...each, count: known.count + each.count })
  }
  return [...sums.values()]
}

/**
 * The figures of one subject as series: one value for each step, null if unknown.
 *
 * @param steps of the subject; undefined: unknown, null: inactive.
 */
export function seriesOf(
  kind: SubjectKind,
  steps: readonly (Figures | null | undefined)[],
): Record<string, (number | null)[]> {
  const series: Record<string, (number | null)[]> = {}
  for (const [i, name] of COUNTS[kind].entries()) {
    series[name] = steps.map((step) => (step === undefined ? null : (step?.counts[i] ?? 0)))
  }
  for (const name of SHOWN_FURTHER[kind]) {
    series[name] = steps.map((step) => (step === undefined ? null : FURTHER[name](step ?? NOTHING)))
  }
  return series
}

const FURTHER = {
  waiting: ({ waiting }: Figures) => waiting,
  p50Ms: ({ durations }: Figures) => durationPercentiles(durations).p50,
  p95Ms: ({ durations }: Figures) => durationPercentiles(durations).p95,
  p99Ms: ({ durations }: Figures) => durationPercentiles(durations).p99,
}

const NOTHING: Figures = { counts: [], waiting: 0, durations: [] }
