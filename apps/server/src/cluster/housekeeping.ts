import type { PostgresDeliveryStore } from '@millrace/delivery/postgres'
import type { HeldLease } from '@millrace/postgres'
import type { Clock } from '@millrace/std'
import { TRACES_KEPT_MS } from '../shard-deps.ts'
import type { ClusterEngines } from './engines.ts'

interface Traces {
  readonly log: Pick<ClusterEngines['log'], 'partitions' | 'deletedBefore'>
  readonly store: Pick<PostgresDeliveryStore, 'backlog' | 'tidy'>
  readonly clock: Clock
  readonly maxBytes: number
}

/** Deletes old traces of all partitions. @throws LeaseLostError, LogUnavailableError */
export async function tidy({ log, store, clock, maxBytes }: Traces, lease: HeldLease): Promise<void> {
  const kept = new Map((await store.backlog.keptRanges()).map(({ partition, from }) => [partition, from]))
  const logOldest = await Promise.all(
    Array.from({ length: log.partitions }, async (_, partition) => {
      // The end, if the partition is empty. Kept records are found by their messageIds as those of the log are.
      const first = await log.deletedBefore(partition)
      return { partition, offset: Math.min(first, kept.get(partition) ?? first) }
    }),
  )
  await store.tidy({ finalBefore: clock.now() - TRACES_KEPT_MS, logOldest, maxBytes }, lease)
}
