import { type DeadLetterFilter, type DeadLetterGroup, type DeadLetterStore, MAX_GROUPS } from '@millrace/delivery'
import { formatTime } from '@millrace/protocol'

/** Dead letters that match a filter, grouped by destination, stage, reason and last status; largest first. */
export async function deadLetterGroups(store: DeadLetterStore, filter: DeadLetterFilter): Promise<DeadLetterGroup[]> {
  const found = new Map<string, DeadLetterGroup>()
  for (let before: number | null = null; ; ) {
    const { groups, next }: { groups: DeadLetterGroup[]; next: number | null } = await store.groups({
      filter,
      before,
    })
    for (const group of groups) {
      const { destinationId, stage, reason, lastStatus } = group
      const key = JSON.stringify([destinationId, stage, reason, lastStatus])
      found.set(key, together(found.get(key), group))
    }
    if (next === null) break
    before = next
  }
  return [...found.values()].sort((a, b) => b.count - a.count || b.newestAt - a.newestAt).slice(0, MAX_GROUPS)
}

function together(known: DeadLetterGroup | undefined, more: DeadLetterGroup): DeadLetterGroup {
  if (known === undefined) return more
  return {
    ...more,
    count: known.count + more.count,
    oldestAt: Math.min(known.oldestAt, more.oldestAt),
    newestAt: Math.max(known.newestAt, more.newestAt),
  }
}

/** @see contracts/dashboard.md §4 N8 */
export function groupJson({ lastStatus, oldestAt, newestAt, ...group }: DeadLetterGroup) {
  return {
    destinationId: group.destinationId,
    stage: group.stage,
    reason: group.reason,
    lastStatus: lastStatus === 0 ? null : lastStatus,
    count: group.count,
    oldestAt: formatTime(oldestAt),
    newestAt: formatTime(newestAt),
  }
}
