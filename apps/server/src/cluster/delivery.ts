import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type ControlPlane, MILLRACE } from '@millrace/control-plane'
import { PostgresDeliveryStore, PostgresLimits } from '@millrace/delivery/postgres'
import type { DestinationRegistry } from '@millrace/destinations'
import { DeliveryMetrics } from '@millrace/pipeline'
import {
  BudgetHolder,
  BudgetOrders,
  DuplicateCounts,
  EXPIRY_REASON,
  JobLead,
  LogScan,
  OwnedShards,
  partitionsOf,
  type ScannedLog,
  ShardJobs,
  type SpannedConfiguration,
} from '@millrace/pipeline/cluster'
import { type HeldLease, type LeasedWork, PostgresLeases, SingleTask } from '@millrace/postgres'
import type { Clock } from '@millrace/std'
import type { Sandboxes } from '@millrace/transformations'
import type { ProcessRole } from '../config/roles.ts'
import { outcomeMetrics } from '../delivery-metrics.ts'
import type { Faults } from '../faults.ts'
import { counter, gauge, labelled, total } from '../http/prometheus-text.ts'
import type { ServerLogger } from '../logger.ts'
import type { OutboundClients } from '../outbound-clients.ts'
import type { Part } from '../parts/part.ts'
import { shardDeps } from '../shard-deps.ts'
import { VERSION } from '../version.ts'
import { type ClusterEngines, type ClusterSettings, postgresOptions } from './engines.ts'
import type { FollowedConfiguration } from './followed-configuration.ts'
import { PostgresHealth } from './postgres-health.ts'
import { ShardReports } from './shard-reports.ts'

const TRACES_KEPT_MS = 168 * 3_600_000
const HOUSEKEEPING_MS = 60_000
const BUDGET_MS = 5_000
const JOINED_WITHIN_MS = 20_000

interface ClusterDeliveryNeeds {
  readonly settings: ClusterSettings
  readonly engines: ClusterEngines
  readonly controlPlane: ControlPlane
  readonly configuration: () => FollowedConfiguration
  readonly registry: DestinationRegistry
  readonly sandboxes: Sandboxes
  readonly outbound: OutboundClients
  readonly roles: ReadonlySet<ProcessRole>
  /** Where people find this process. */
  readonly address: string
  readonly faults: Faults
  readonly clock: Clock
  readonly logger: ServerLogger
}

/** Owns shards by leases, and delivers their events. */
export interface ClusterDelivery extends Part {
  readonly metricsOfDelivery: DeliveryMetrics
  readonly owned: OwnedShards
  /** The number of live processes with a role. */
  members(role: ProcessRole): number
  /** A configuration takes effect in the shards of this process, and it shares those that hold a source. */
  follow(configured: SpannedConfiguration): Promise<void>
}

/** @throws if the process cannot join the members within 20 s. */
export async function openClusterDelivery(needs: ClusterDeliveryNeeds): Promise<ClusterDelivery> {
  const { settings, engines, controlPlane, faults, clock, logger } = needs
  const { log, delivery: pool, notifications } = engines
  await using opened = new AsyncDisposableStack()
  const memberId = randomUUID()
  const metrics = new DeliveryMetrics()
  let leases: PostgresLeases | undefined
  const store = await PostgresDeliveryStore.open({
    pool,
    process: memberId,
    clock,
    logger,
    onFault: (error) => faults.report('Outcomes cannot be written', error),
    fence: {
      shardOf: (partition) => partition % log.homes,
      epochOf: (shard) => owned.epochOf(shard),
      onFenced: (shards) => owned.fenced(shards),
    },
  })
  opened.defer(() => store.close())
  const scan = new LogScan(
    decidedLog(log, (partition) => owned.decided(partition)),
    store,
    clock,
    (error) => logger.warn({ err: error }, 'a read-only thread ended; it restarts'),
  )
  opened.defer(() => scan.rest())
  const duplicates = new DuplicateCounts({
    ...{ statistics: store.statistics, shortStatistics: store.shortStatistics, clock, logger },
  })
  opened.defer(() => duplicates.stop())
  const limits = opened.use(
    new PostgresLimits({
      ...{ pool: engines.control, process: memberId, clock, logger },
      others: () => store.figures.owners(memberId),
      members: () => leases?.members('pipeline') ?? 1,
    }),
  )
  const owned: OwnedShards = new OwnedShards({
    ...{ log, store, marks: engines.marks, metrics, limits, clock, logger },
    ...shardDeps(needs),
    // Control processes read the log and the store themselves.
    live: { isWatched: false, accepted: () => {}, outcome: () => {} },
    memoryBytes: settings.deliveryMemoryBytes,
    shutdownMs: settings.shutdownMs,
    newest: () => needs.configuration().newest(),
    onFenced: ({ number, epoch }) => leases?.refused([{ kind: 'shard', number, epoch }]),
    onShards: async ({ kind, shard, ...rest }) => {
      if (kind === 'begun') return jobs.begin(shard)
      const halted = jobs.end(shard)
      if ('isLost' in rest && rest.isLost) return
      await halted
      await reports.end(shard)
    },
    onReplayEnded: (shard, jobId, destinationId) => jobs.ended(shard, jobId, destinationId),
    onDuplicates: (sourceId, acceptedAt, count) => duplicates.add(sourceId, acceptedAt, count),
  })
  opened.defer(() => owned.close())
  const configuration = () => controlPlane.snapshot()
  const jobs = new ShardJobs({ ...{ store, scan, clock, logger, metrics, configuration } })
  const lead = new JobLead({ ...{ store, scan, clock, logger, partitions: log.partitions } })
  const reports = new ShardReports({ owned, figures: store.figures, configuration, clock, logger })
  const holder = new BudgetHolder<HeldLease>({
    ...{ store: store.budget, homes: log.homes, maxBytes: settings.backlogMaxBytes, clock, logger },
  })
  const budget = new SingleTask({
    ...{ kind: 'budget', role: 'pipeline', intervalMs: BUDGET_MS, clock, logger },
    run: (lease) => holder.look(lease),
  })
  const orders = new BudgetOrders({
    ...{ store, clock, logger },
    shards: () => owned.shards,
    onExpired: (destinationId, count) => metrics.outcome(destinationId, 'expired', count, EXPIRY_REASON),
    tellExpired: (destinationId, count) => {
      const diff = [{ path: '/expired', from: null, to: count }]
      controlPlane.audit.done(MILLRACE, { action: 'expire', kind: 'destination', resourceId: destinationId, diff })
    },
  })
  const housekeeping = new SingleTask({
    ...{ kind: 'housekeeping', role: 'pipeline', intervalMs: HOUSEKEEPING_MS, clock, logger },
    run: (lease) => tidy(needs, store, lease),
  })
  opened.defer(async () => {
    await jobs.stop()
    await orders.stop()
    await reports.stop()
  })

  leases = new PostgresLeases({
    postgres: postgresOptions(settings, logger),
    ...{ notifications, clock, leaseMs: settings.leaseMs, memberId },
    member: { roles: [...needs.roles], address: needs.address, version: VERSION },
  })
  const leaving = leases
  // Without Postgres nothing can be given back: then the leases expire by themselves.
  opened.defer(() => within(settings.shutdownMs, leaving.leave()))
  leases.share(leadOf(lead), [0])
  housekeeping.share(leases)
  budget.share(leases)
  const shards: LeasedWork = {
    ...{ kind: 'shard', role: 'pipeline' },
    start: (lease) => owned.start(lease),
    stop: (lease) => owned.stop(lease),
  }
  await joined(engines, memberId)
  const health = new PostgresHealth(engines.control, clock)
  const closing = opened.move()
  return {
    role: 'pipeline',
    metricsOfDelivery: metrics,
    owned,
    members: (role) => leaving.members(role),
    async follow(configured) {
      await owned.configure(configured)
      await reports.write().catch((error: Error) => logger.warn({ err: error }, 'figures of shards cannot be written'))
      leaving.share(shards, shardsOf(configured, log.homes))
    },
    checks: {
      delivery: {
        stops: 'routing',
        trouble: async () => {
          const troubles = await Promise.all(owned.shards.map(({ pipeline }) => pipeline.trouble()))
          const ofShards = troubles.find((trouble) => trouble !== undefined)
          return (
            ofShards ??
            owned.dedupTrouble() ??
            store.trouble() ??
            log.followTrouble() ??
            health.trouble(settings.leaseMs)
          )
        },
      },
      readers: { trouble: () => scan.trouble() },
      retention: { trouble: () => owned.retentionWarning() },
    },
    metrics: () => [
      ...outcomeMetrics(metrics),
      counter(
        'millrace_duplicates_total',
        'Duplicates by source; gateways count them as accepted events.',
        labelled('source_id', duplicates.bySource),
      ),
      gauge('millrace_shards_owned', 'Shards that this process owns.', owned.shards.length),
      total('millrace_lease_lost_total', 'Leases that ended without being given back.', leaving.counts().lost),
      total('millrace_fenced_total', 'Leases of which a refused write showed the loss.', leaving.counts().fenced),
    ],
    drain: (deadline) => Promise.race([leaving.leave(), deadline]),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

/** A replay takes no record on which the owner has not decided. */
function decidedLog(log: ClusterEngines['log'], decided: (partition: number) => Promise<void>): ScannedLog {
  return {
    async scan(partition, from, maxBytes) {
      await decided(partition)
      return log.scan(partition, from, maxBytes)
    },
    oldest: (partition) => log.oldest(partition),
    end: (partition) => log.end(partition),
    deletedBefore: (partition) => log.deletedBefore(partition),
    damaged: () => log.damaged(),
  }
}

/** One process counts and ends jobs. */
function leadOf(lead: JobLead): LeasedWork {
  return {
    ...{ kind: 'jobs', role: 'pipeline' },
    async start({ signal }) {
      signal.addEventListener('abort', () => void lead.stop(), { once: true })
      lead.start()
    },
    stop: () => lead.stop(),
  }
}

/** The shards that hold a source. */
function shardsOf({ configuration }: SpannedConfiguration, homes: number): number[] {
  const sources = [...configuration.sources.values()]
  return [...new Set(sources.flatMap((source) => partitionsOf(source, { partitions: homes, homes })))].sort(
    (a, b) => a - b,
  )
}

async function tidy(
  { engines: { log }, settings, clock }: ClusterDeliveryNeeds,
  store: PostgresDeliveryStore,
  lease: HeldLease,
): Promise<void> {
  const oldest = await Promise.all(
    Array.from({ length: log.partitions }, async (_, partition) => {
      const offset = (await log.oldest(partition))?.offset
      return offset === undefined ? [] : [{ partition, offset }]
    }),
  )
  const finalBefore = clock.now() - TRACES_KEPT_MS
  await store.tidy({ finalBefore, logOldest: oldest.flat(), maxBytes: settings.traceMaxBytes }, lease)
}

async function joined({ control }: ClusterEngines, memberId: string): Promise<void> {
  const deadline = performance.now() + JOINED_WITHIN_MS
  for (;;) {
    const rows = await control.query('SELECT 1 FROM member WHERE id = $1', [memberId])
    if (rows.length > 0) return
    if (performance.now() > deadline) throw new Error('this process could not join the members within 20 s')
    await delay(50)
  }
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  const end = new AbortController()
  await Promise.race([work, delay(ms, undefined, { signal: end.signal }).catch(() => {})])
  end.abort()
}
