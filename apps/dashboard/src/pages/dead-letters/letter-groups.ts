import type { DeadLetterGroup, Stage } from '@millrace/api-types'
import { counted } from '@millrace/wording'
import type { DeadLetterChoice, DeadLetterFilters } from '../../api/dead-letters.ts'

/** Dead letters with one cause, at any destination: a filter selects them, so they can be replayed together. */
export interface LetterGroup {
  /** Identifies the group in a link; reasons may be long, and contain text from outside. */
  readonly key: string
  /** Destinations with some of them, unordered. */
  readonly destinationIds: readonly string[]
  readonly stage: Stage
  readonly reason: string
  /** Without repetitions; a letter without an answer has none. */
  readonly lastStatuses: readonly number[]
  readonly count: number
  readonly oldestAt: string
  readonly newestAt: string
}

/** The server groups by last status, for which there is no filter; this merges its groups, largest first. */
export function letterGroups(counted: readonly DeadLetterGroup[]): readonly LetterGroup[] {
  const groups = new Map<string, LetterGroup>()
  for (const { destinationId, stage, reason, lastStatus, count, oldestAt, newestAt } of counted) {
    const key = groupKey(stage, reason)
    const known = groups.get(key)
    const statuses = new Set([...(known?.lastStatuses ?? []), ...(lastStatus === null ? [] : [lastStatus])])
    groups.set(key, {
      key,
      destinationIds: [...new Set([...(known?.destinationIds ?? []), destinationId])],
      stage,
      reason,
      lastStatuses: [...statuses].sort((a, b) => a - b),
      count: count + (known?.count ?? 0),
      oldestAt: known !== undefined && known.oldestAt < oldestAt ? known.oldestAt : oldestAt,
      newestAt: known !== undefined && known.newestAt > newestAt ? known.newestAt : newestAt,
    })
  }
  return [...groups.values()].sort((a, b) => b.count - a.count)
}

/** The filters, with the group's values in place of their own. */
export function narrowedTo(filters: DeadLetterFilters, group: LetterGroup | undefined): DeadLetterFilters {
  if (group === undefined) return filters
  const { stage, reason } = group
  return { ...filters, stage, reason }
}

function groupKey(stage: Stage, reason: string): string {
  let hash = 5381
  for (let at = 0; at < reason.length; at++) hash = (Math.imul(hash, 33) ^ reason.charCodeAt(at)) >>> 0
  return `${stage}.${hash.toString(36)}`
}

/** The destinations of groups: a name, or `20 destinations`. */
export function targetOf(groups: readonly LetterGroup[], nameOf: (destinationId: string) => string): string {
  const [only, ...others] = new Set(groups.flatMap(({ destinationIds }) => destinationIds))
  return only !== undefined && others.length === 0 ? nameOf(only) : counted(others.length + 1, 'destination')
}

/** Selects the open dead letters until now, so that a job finds only those that its dry run counted. */
export function allUntil(filters: DeadLetterFilters, now: number): DeadLetterChoice {
  return { filter: { ...filters, state: 'open', to: filters.to ?? new Date(now).toISOString() } }
}
