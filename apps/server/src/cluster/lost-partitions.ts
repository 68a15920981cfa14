import type { Snapshot } from '@millrace/control-plane'
import type { ClusterEngines } from './engines.ts'

/** The topics have fewer partitions than the sources use: they were deleted and made again, or are those of another installation. */
export class LostPartitionsError extends Error {
  override readonly name = 'LostPartitionsError'
  readonly code = 'LOST_PARTITIONS'
}

/** @throws LostPartitionsError @see contracts/cluster.md §2 [K5] */
export function refuseLostPartitions(
  { sources }: Pick<Snapshot, 'sources'>,
  { homes }: Pick<ClusterEngines['log'], 'homes'>,
  prefix: string,
): void {
  const last = [...sources.values()].sort((a, b) => b.partition - a.partition)[0]
  if (last === undefined || last.partition < homes) return
  throw new LostPartitionsError(
    `topic ${prefix}.live has ${homes} partitions, but source ${last.id} lies in partition ${last.partition}. Check MILLRACE_KAFKA_PREFIX; if the topics were deleted, start with MILLRACE_PARTITIONS=${last.partition + 1} or more and topics that do not exist yet`,
  )
}
