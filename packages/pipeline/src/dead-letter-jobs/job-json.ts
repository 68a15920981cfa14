import type { DeadLetterJob } from '@millrace/delivery'
import { formatTime } from '@millrace/protocol'

/** A job over dead letters as its routes show it. @see contracts/delivery.md §7 [D620] */
export function jobJson(job: DeadLetterJob) {
  const { filter } = job
  return {
    id: job.id,
    kind: job.kind,
    dryRun: job.isDryRun,
    state: job.state,
    matched: job.matched,
    taken: job.taken,
    delivered: job.delivered,
    filtered: job.filtered,
    deadLettered: job.deadLettered,
    discarded: job.discarded,
    sourceIds: filter?.sourceId === undefined ? [] : [filter.sourceId],
    destinationIds: job.parts.map(({ destinationId }) => destinationId),
    from: filter?.from === undefined ? null : formatTime(filter.from),
    to: filter?.to === undefined ? null : formatTime(filter.to),
    createdBy: job.createdBy,
    createdAt: formatTime(job.createdAt),
    finishedAt: job.finishedAt === null ? null : formatTime(job.finishedAt),
  }
}
