import type { EventLog } from '@millrace/log'

interface RetainedLog extends Pick<EventLog, 'partitions' | 'deletedBefore' | 'oldest'> {
  readonly retention: { readonly retentionMs: number; readonly isSizeBound: boolean }
}

/**
 * The time from which on a Postgres backup restores everything: the brokers still hold every record that was not read by then.
 *
 * @returns undefined while nothing was deleted: a backup of any age does.
 * @see contracts/cluster.md §13 [K22]
 */
export async function postgresBackupsFrom(log: RetainedLog, now: number): Promise<number | undefined> {
  const { retentionMs, isSizeBound } = log.retention
  const times = await Promise.all(
    Array.from({ length: log.partitions }, async (_, partition) => {
      if ((await log.deletedBefore(partition)) === 0) return []
      // What was deleted is older than the oldest record and, unless the size of a partition is bounded, than the retention.
      const oldestAt = (await log.oldest(partition))?.acceptedAt ?? now
      return [isSizeBound ? oldestAt : Math.min(oldestAt, now - retentionMs)]
    }),
  )
  const latest = Math.max(...times.flat())
  return Number.isFinite(latest) ? latest : undefined
}
