import { randomBytes } from 'node:crypto'
import { adminInfoRoute, type ControlPlane } from '@millrace/control-plane'
import type { IngestMetrics } from '@millrace/gateway'
import { type DeliveryHost, type Shard, Stats, statsRoutes } from '@millrace/pipeline'
import { formatTime } from '@millrace/protocol'
import type { Clock } from '@millrace/std'
import { backupRoutes } from '../backup/backup-routes.ts'
import { Backups } from '../backup/backups.ts'
import type { Settings } from '../config/settings.ts'
import { DashboardFiles } from '../dashboard/dashboard-files.ts'
import { dashboardRoutes } from '../dashboard/dashboard-routes.ts'
import type { DataFolder } from '../data-folder/data-folder.ts'
import type { Callers } from '../http/callers.ts'
import type { ServerLogger } from '../logger.ts'
import { Inbox } from '../quickstart/inbox.ts'
import type { StoragePart } from '../storage.ts'
import type { Part } from './part.ts'

interface OperationsNeeds {
  readonly folder: DataFolder
  readonly settings: Settings
  /** Settings by name, with secrets masked. */
  readonly shownSettings: Record<string, string | number | null>
  readonly storage: Pick<StoragePart, 'log' | 'store' | 'catalog'>
  readonly controlPlane: ControlPlane
  readonly callers: Callers
  readonly ingest: IngestMetrics
  readonly delivery: Pick<DeliveryHost, 'counts' | 'activity' | 'shards'>
  /** Output of the dashboard build; undefined: no dashboard is served. */
  readonly dashboardFolder: string | undefined
  readonly clock: Clock
  readonly logger: ServerLogger
}

/** Operates a running server: statistics, backups, settings, the dashboard, and the quickstart inbox. */
export interface OperationsPart extends Part {
  readonly inbox: Inbox
}

export async function openOperations(needs: OperationsNeeds): Promise<OperationsPart> {
  const { folder, settings, controlPlane, callers, delivery, dashboardFolder, clock, logger } = needs
  const { log, store, catalog } = needs.storage
  await using opened = new AsyncDisposableStack()
  const stats = new Stats({
    ingest: needs.ingest,
    delivery,
    store: store.statistics,
    clock,
    logger,
  })
  await stats.start()
  opened.defer(() => stats.stop())
  const backups = new Backups({
    dataFolder: folder.path,
    directory: settings.backupDir ?? folder.file('backups'),
    diskFloorBytes: settings.minFreeDiskBytes,
    log,
    store,
    catalog,
    controlPlane,
    clock,
    logger,
  })
  opened.defer(() => backups.stop())
  const inbox = new Inbox(folder.file('inbox.key'))
  const facts = async () => {
    const partitions = Array.from({ length: log.partitions }, (_, partition) => log.oldest(partition))
    const times = (await Promise.all(partitions)).flatMap((oldest) => oldest?.acceptedAt ?? [])
    return {
      logBytes: log.sizeBytes(),
      logOldestAt: times.length === 0 ? null : formatTime(Math.min(...times)),
      lastBackup: backups.last === null ? null : { ...backups.last },
      deliveryThreads: await Promise.all(delivery.shards.map(threadJson)),
      settings: needs.shownSettings,
    }
  }
  const dashboard =
    dashboardFolder === undefined
      ? []
      : [dashboardRoutes({ files: new DashboardFiles(dashboardFolder), random: randomBytes })]
  const closing = opened.move()
  return {
    role: 'control',
    inbox,
    routes: [
      ...dashboard,
      inbox.routes(
        ({ raw }) => callers.actor(raw),
        () => clock.now(),
      ),
    ],
    v2Routes: [
      backupRoutes(backups),
      adminInfoRoute(controlPlane, facts),
      statsRoutes({ stats, clock, ids: (kind) => [...controlPlane.snapshot()[STATS_OF[kind]].keys()] }),
    ],
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

async function threadJson(shard: Shard, i: number) {
  const { busy, cpuMs } = await shard.load()
  return {
    number: i + 1,
    partitions: [...shard.partitions],
    busyPercent: Math.round(busy * 100),
    cpuSeconds: cpuMs / 1_000,
  }
}

const STATS_OF = { source: 'sources', transformation: 'transformations', destination: 'destinations' } as const
