import type { SubjectKind } from '@millrace/delivery'
import { badRequest, choice, type Query, text } from '@millrace/openapi'
import { formatTime } from '@millrace/protocol'
import type { Clock } from '@millrace/std'
import type { FastifyPluginAsync } from 'fastify'
import { time } from '../http/time.ts'
import { STATS_IN_WORDS } from './stats.openapi.ts'
import { LONG_STEP_MS, SHORT_STEP_MS, type Stats, type StatsRange, type Subject } from './stats.ts'
import { seriesOf } from './stats-step.ts'

const MAX_STEPS = 360

export interface StatsRoutesOptions {
  readonly stats: Stats
  readonly clock: Clock
  /** Ids of existing resources, ordered by creation. */
  readonly ids: (kind: SubjectKind) => readonly string[]
}

/** GET /v2/stats; register it below /v2. @see contracts/dashboard.md §4 N3 */
export function statsRoutes({ stats, clock, ids }: StatsRoutesOptions): FastifyPluginAsync {
  return async (app) => {
    app.get('/stats', { config: { describe: STATS_IN_WORDS } }, async (request) => {
      const query = request.query as Query
      const range = rangeOf(query, clock.now())
      const isByReason = choice(query, 'by', ['reason']) !== undefined
      const chosen = choiceOf(query)
      const subjectsOf = (kind: SubjectKind): Subject[] =>
        ids(kind).flatMap((id): Subject[] => (isChosen(chosen, kind, id) ? [[kind, id]] : []))
      const [sources, transformations, destinations] = [
        subjectsOf('source'),
        subjectsOf('transformation'),
        subjectsOf('destination'),
      ]
      const subjects = [...sources, ...transformations, ...destinations]
      const steps = await stats.steps(range, subjects)
      const shown = subjects.map(([kind, id], i) => ({ id, ...seriesOf(kind, steps[i]!) }))
      const lastEvents = stats.lastEvents()
      const { length: count } = sources
      return {
        from: formatTime(range.from),
        to: formatTime(range.to),
        stepSeconds: range.stepMs / 1000,
        sources: shown.slice(0, count).map((each) => ({ ...each, lastEventAt: timeOrNull(lastEvents.get(each.id)) })),
        transformations: shown.slice(count, count + transformations.length),
        destinations: shown.slice(count + transformations.length),
        ...(isByReason ? { reasons: await stats.reasons(range, chosen.destination) } : {}),
      }
    })
  }
}

type Choice = Readonly<Record<SubjectKind, string | undefined>>

function choiceOf(query: Query): Choice {
  return {
    source: text(query, 'sourceId'),
    transformation: text(query, 'transformationId'),
    destination: text(query, 'destinationId'),
  }
}

/** If the query has an id of one kind, only the given ids of each kind are shown. */
function isChosen(choice: Choice, kind: SubjectKind, id: string): boolean {
  const isAnyNamed = Object.values(choice).some((named) => named !== undefined)
  return isAnyNamed ? choice[kind] === id : true
}

/** Rounded outwards to whole steps. @throws ApiError */
function rangeOf(query: Query, now: number): StatsRange {
  const stepMs = (choice(query, 'step', ['10', '300']) ?? '10') === '10' ? SHORT_STEP_MS : LONG_STEP_MS
  const givenTo = time(query, 'to') ?? now
  const givenFrom = time(query, 'from') ?? givenTo - MAX_STEPS * stepMs
  if (givenFrom >= givenTo) throw badRequest('from must be before to')
  if (givenTo - givenFrom > MAX_STEPS * stepMs) throw badRequest('At most 360 steps')
  const to = Math.ceil(givenTo / stepMs) * stepMs
  const from = Math.floor(givenFrom / stepMs) * stepMs
  return { from: Math.max(from, to - MAX_STEPS * stepMs), to, stepMs }
}

function timeOrNull(at: number | undefined): string | null {
  return at === undefined ? null : formatTime(at)
}
