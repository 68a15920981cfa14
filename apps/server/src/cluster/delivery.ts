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
  ShardJobs,
  type SpannedConfiguration,
} from '@millrace/pipeline/cluster'
import { type HeldLease, type LeasedWork, SingleTask } from '@millrace/postgres'
import type { Clock } from '@millrace/std'
import type { Sandboxes } from '@millrace/transformations'
import type { Faults } from '../faults.ts'
import type { ServerLogger } from '../logger.ts'
import type { OutboundClients } from '../outbound-clients.ts'
import type { Part } from '../parts/part.ts'
import { shardDeps } from '../shard-deps.ts'
import { decidedLog } from './decided-log.ts'
import { checksOf, metricsOf } from './delivery-figures.ts'
import type { ClusterEngines, ClusterSettings } from './engines.ts'
import type { FollowedConfiguration } from './followed-configuration.ts'
import { tidy } from './housekeeping.ts'
import type { LeaseMember } from './lease-member.ts'
import { ShardReports } from './shard-reports.ts'

const HOUSEKEEPING_MS = 60_000
const BUDGET_MS = 5_000

interface ClusterDeliveryNeeds {
  readonly settings: ClusterSettings
  readonly engines: ClusterEngines
  readonly controlPlane: ControlPlane
  readonly configuration: () => FollowedConfiguration
  readonly registry: DestinationRegistry
  readonly sandboxes: Sandboxes
  readonly outbound: OutboundClients
  readonly member: LeaseMember
  readonly faults: Faults
  readonly clock: Clock
  readonly logger: ServerLogger
}

/** Owns shards by leases, and delivers their events. */
export interface ClusterDelivery extends Part {
  readonly metricsOfDelivery: DeliveryMetrics
  readonly owned: OwnedShards
  /** A configuration takes effect in the shards of this process, and it shares those that hold a source. */
  follow(configured: SpannedConfiguration): Promise<void>
}

/** @throws if the process cannot join the members within 20 s. */
export async function openClusterDelivery(needs: ClusterDeliveryNeeds): Promise<ClusterDelivery> {
  const { settings, engines, controlPlane, faults, clock, logger } = needs
  const { log, delivery: pool } = engines
  const { id: memberId, leases } = needs.member
  await using opened = new AsyncDisposableStack()
  const metrics = new DeliveryMetrics()
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
      members: () => leases.members('pipeline'),
    }),
  )
  const owned: OwnedShards = new OwnedShards({
    ...{ log, store, marks: engines.marks, metrics, limits, clock, logger },
    ...shardDeps(needs),
    // Control processes read the log and the store themselves.
    live: { isWatched: false, accepted: () => {}, outcome: () => {} },
    memoryBytes: settings.deliveryMemoryBytes,
    shutdownMs: settings.shutdownMs,
    uncleanEnds: settings.uncleanEnds,
    newest: () => needs.configuration().newest(),
    onFenced: ({ number, epoch }) => leases.refused([{ kind: 'shard', number, epoch }]),
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
  let configured: SpannedConfiguration | undefined
  let neededByJobs: ReadonlySet<number> = new Set()
  const jobs = new ShardJobs({
    ...{ store, scan, clock, logger, metrics, configuration, homes: log.homes },
    onNeeded(needed) {
      neededByJobs = needed
      shareShards()
    },
  })
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
    run: (lease) => tidy({ log, store, clock, maxBytes: settings.traceMaxBytes }, lease),
  })
  opened.defer(async () => {
    await jobs.stop()
    await orders.stop()
    await reports.stop()
  })

  opened.defer(() => needs.member.leave())
  leases.share(leadOf(lead, store), [0])
  housekeeping.share(leases)
  budget.share(leases)
  const shards: LeasedWork = {
    ...{ kind: 'shard', role: 'pipeline' },
    start: (lease) => owned.start(lease),
    stop: (lease) => owned.stop(lease),
  }
  const shareShards = () => {
    if (configured !== undefined) leases.share(shards, shardsOf(configured, neededByJobs, log.homes))
  }
  await needs.member.joined()
  const closing = opened.move()
  return {
    role: 'pipeline',
    metricsOfDelivery: metrics,
    owned,
    async follow(change) {
      await owned.configure(change)
      await reports.write().catch((error: Error) => logger.warn({ err: error }, 'figures of shards cannot be written'))
      configured = change
      shareShards()
    },
    checks: checksOf({ log, leases, owned, store, scan }),
    metrics: metricsOf({ metrics, owned, store, duplicates, reports }),
    drain: (deadline) => Promise.race([leases.leave(), deadline]),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

/** One process counts and ends jobs. */
function leadOf(lead: JobLead, { jobsUnder }: Pick<PostgresDeliveryStore, 'jobsUnder'>): LeasedWork {
  return {
    ...{ kind: 'jobs', role: 'pipeline' },
    async start(lease) {
      lease.signal.addEventListener('abort', () => void lead.stop(), { once: true })
      lead.start(jobsUnder(lease))
    },
    stop: () => lead.stop(),
  }
}

/** The shards that hold a source, or in which a job has work. */
function shardsOf({ configuration }: SpannedConfiguration, ofJobs: ReadonlySet<number>, homes: number): number[] {
  const sources = [...configuration.sources.values()]
  const ofSources = sources.flatMap((source) => partitionsOf(source, { partitions: homes, homes }))
  return [...new Set([...ofSources, ...ofJobs])].sort((a, b) => a - b)
}
