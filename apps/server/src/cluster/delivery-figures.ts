import type { PostgresDeliveryStore } from '@millrace/delivery/postgres'
import type { DeliveryMetrics } from '@millrace/pipeline'
import type { DuplicateCounts, LogScan, OwnedShards } from '@millrace/pipeline/cluster'
import { outcomeMetrics } from '../delivery-metrics.ts'
import { counter, gauge, gauges, histogram, labelled } from '../http/prometheus-text.ts'
import type { HealthCheck, Part } from '../parts/part.ts'
import type { ClusterEngines } from './engines.ts'
import type { LeaseMember } from './lease-member.ts'
import type { ShardReports } from './shard-reports.ts'

/** As a shard that stands still: without the brokers no one knows whether it has work. */
const UNREADABLE_MS = 60_000

interface CheckedParts {
  readonly log: ClusterEngines['log']
  readonly leases: LeaseMember['leases']
  readonly owned: OwnedShards
  readonly store: PostgresDeliveryStore
  readonly scan: LogScan
}

/** The rows of /health about delivery in a cluster. */
export function checksOf({ log, leases, owned, store, scan }: CheckedParts): Readonly<Record<string, HealthCheck>> {
  return {
    delivery: {
      stops: 'routing',
      trouble: async () => {
        const troubles = await Promise.all(owned.shards.map(({ pipeline }) => pipeline.trouble()))
        const ofShards = troubles.find((trouble) => trouble !== undefined)
        const unread = log.followTrouble()
        const isUnreadable = unread !== undefined && unread.forMs >= UNREADABLE_MS
        return (
          leases.trouble() ??
          ofShards ??
          owned.dedupTrouble() ??
          store.trouble() ??
          (isUnreadable ? unread.cause : undefined)
        )
      },
    },
    brokers: { trouble: () => log.followTrouble()?.cause },
    readers: { trouble: () => scan.trouble() },
    retention: { trouble: () => owned.retentionWarning() },
  }
}

interface MeasuredParts {
  readonly metrics: DeliveryMetrics
  readonly owned: OwnedShards
  readonly store: PostgresDeliveryStore
  readonly duplicates: DuplicateCounts
  readonly reports: ShardReports
}

/** The families of /metrics about delivery in a cluster. */
export function metricsOf({ metrics, owned, store, duplicates, reports }: MeasuredParts): NonNullable<Part['metrics']> {
  return () => [
    ...outcomeMetrics(metrics),
    counter(
      'millrace_duplicates_total',
      'Duplicates by source; gateways count them as accepted events.',
      labelled('source_id', duplicates.bySource),
    ),
    gauge('millrace_shards_owned', 'Shards that this process owns.', owned.shards.length),
    gauges(
      'millrace_shard_lag_seconds',
      'Age of the oldest event of an owned shard that is not finished; 0 if none waits.',
      labelled(
        'shard',
        reports.lagSeconds().map(([shard, seconds]) => [`${shard}`, seconds]),
      ),
    ),
    histogram('millrace_flush_seconds', 'Time to write outcomes and positions to Postgres.', store.flushSeconds),
  ]
}
