import type { Job } from '@millrace/delivery'
import { formatTime } from '@millrace/protocol'

/** A job as its routes show it. @see contracts/delivery.md §7 [D620] */
export function jobJson(job: Job, isDamaged: boolean) {
  return {
    id: job.id,
    origin: job.over.origin,
    kind: job.kind,
    dryRun: job.isDryRun,
    state: job.state,
    matched: job.matched,
    taken: job.taken,
    delivered: job.delivered,
    filtered: job.filtered,
    deadLettered: job.deadLettered,
    discarded: job.discarded,
    damaged: isDamaged,
    destinationIds: [...new Set(job.parts.map(({ destinationId }) => destinationId))],
    ...rangeOf(job),
    rateEventsPerSecond: job.ratePerSecond,
    createdBy: job.createdBy,
    createdAt: formatTime(job.createdAt),
    finishedAt: job.finishedAt === null ? null : formatTime(job.finishedAt),
  }
}

/** Over the log, range of the acceptance time; over dead letters, range of `deadAt`. */
function rangeOf({ over }: Job) {
  if (over.origin === 'log') {
    const { sourceIds, from, to } = over.selection
    return { sourceIds, from: formatTime(from), to: formatTime(to) }
  }
  const { sourceId, from, to } = over.filter ?? {}
  return {
    sourceIds: sourceId === undefined ? [] : [sourceId],
    from: from === undefined ? null : formatTime(from),
    to: to === undefined ? null : formatTime(to),
  }
}
