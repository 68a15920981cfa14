import { randomBytes } from 'node:crypto'
import { adminInfoRoute, type ControlPlane } from '@millrace/control-plane'
import type { StatisticsStore } from '@millrace/delivery'
import type { IngestMetrics } from '@millrace/gateway'
import { DeliveryMetrics, Stats, statsRoutes } from '@millrace/pipeline'
import type { OwnedShards } from '@millrace/pipeline/cluster'
import { liveMembers, storedLeases } from '@millrace/postgres'
import { formatTime } from '@millrace/protocol'
import type { Clock } from '@millrace/std'
import { DashboardFiles } from '../dashboard/dashboard-files.ts'
import { dashboardRoutes } from '../dashboard/dashboard-routes.ts'
import { refusalRoutes } from '../http/refusal-routes.ts'
import type { ServerLogger } from '../logger.ts'
import type { Part } from '../parts/part.ts'
import { postgresBackupsFrom } from './backup-reach.ts'
import type { ClusterEngines } from './engines.ts'
import type { SharedRefusals } from './shared/shared-refusals.ts'

interface ClusterOperationsNeeds {
  readonly engines: ClusterEngines
  /** Settings by name, with secrets masked. */
  readonly shownSettings: Record<string, string | number | null>
  readonly controlPlane: ControlPlane
  readonly statistics: StatisticsStore
  readonly shortStatistics: StatisticsStore
  /** Undefined: this process accepts no events. */
  readonly ingest: IngestMetrics | undefined
  /** Undefined: this process delivers no events. */
  readonly delivery: { readonly metricsOfDelivery: DeliveryMetrics; readonly owned: OwnedShards } | undefined
  /** Output of the dashboard build; undefined: no dashboard is served. */
  readonly dashboardFolder: string | undefined
  readonly clock: Clock
  readonly logger: ServerLogger
}

/** Counts what this process does, for the statistics of the installation. */
export async function openStatistics(needs: ClusterOperationsNeeds): Promise<Part & { readonly stats: Stats }> {
  const { statistics: store, ingest, delivery, clock, logger } = needs
  const noMetrics = new DeliveryMetrics()
  const stats = new Stats({
    ...{ store, shortStore: needs.shortStatistics, clock, logger },
    ingest: ingest ?? { sources: () => [], rejectedBySource: new Map() },
    delivery: {
      counts: async () => delivery?.metricsOfDelivery ?? noMetrics,
      activity: (destinationIds) =>
        Promise.all((delivery?.owned.shards ?? []).map(({ pipeline }) => pipeline.activity(destinationIds))),
    },
  })
  await stats.start()
  return { stats, [Symbol.asyncDispose]: () => stats.stop() }
}

/** Shows the installation to people. */
export function openClusterOperations(needs: ClusterOperationsNeeds, stats: Stats, refusals: SharedRefusals): Part {
  const { engines, controlPlane, dashboardFolder, clock } = needs
  const { log } = engines
  const facts = async () => {
    const partitions = Array.from({ length: log.partitions }, (_, partition) => log.oldest(partition))
    const times = (await Promise.all(partitions)).flatMap((oldest) => oldest?.acceptedAt ?? [])
    const [from, processes] = await Promise.all([
      postgresBackupsFrom(log, clock.now()),
      // Only Postgres has the list. While it is away, the answer leaves the list out.
      livingProcesses(engines.control).catch(() => undefined),
    ])
    return {
      // The brokers hold the log.
      logBytes: log.sizeBytes(),
      logOldestAt: times.length === 0 ? null : formatTime(Math.min(...times)),
      lastBackup: null,
      postgresBackupsFrom: from === undefined ? null : formatTime(from),
      deliveryThreads: [],
      ...(processes && { processes }),
      settings: needs.shownSettings,
    }
  }
  const dashboard =
    dashboardFolder === undefined
      ? []
      : [dashboardRoutes({ files: new DashboardFiles(dashboardFolder), random: randomBytes })]
  return {
    role: 'control',
    routes: dashboard,
    v2Routes: [
      adminInfoRoute(controlPlane, facts),
      refusalRoutes(refusals),
      statsRoutes({ stats, clock, ids: (kind) => [...controlPlane.snapshot()[STATS_OF[kind]].keys()] }),
    ],
    [Symbol.asyncDispose]: async () => {},
  }
}

/** The processes that live, with the number of shards that each owns. */
async function livingProcesses(pool: ClusterEngines['control']) {
  const [members, leases] = await Promise.all([liveMembers(pool), storedLeases(pool)])
  return members.map(({ id, roles, address, version }) => {
    const shards = leases.filter(({ kind, owner }) => kind === 'shard' && owner === id).length
    return { address, roles: [...roles], version, shards }
  })
}

const STATS_OF = { source: 'sources', transformation: 'transformations', destination: 'destinations' } as const
