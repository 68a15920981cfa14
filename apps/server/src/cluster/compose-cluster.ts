import { hostname } from 'node:os'
import type { ControlPlane } from '@millrace/control-plane'
import { postgresControlStore } from '@millrace/control-plane/postgres'
import { TokenExchange } from '@millrace/delivery'
import { PostgresDeliveryStore } from '@millrace/delivery/postgres'
import { DestinationRegistry } from '@millrace/destinations'
import type { RouteBook } from '@millrace/openapi'
import { systemClock } from '@millrace/std'
import type { ComposeOptions } from '../compose.ts'
import type { ProcessRole } from '../config/roles.ts'
import { urlOfServer } from '../config/settings.ts'
import { Ending } from '../ending.ts'
import { mount } from '../http/mount.ts'
import { gauge } from '../http/prometheus-text.ts'
import { OutboundClients } from '../outbound-clients.ts'
import { openControl } from '../parts/control.ts'
import { openDestinationCatalog } from '../parts/destination-catalog.ts'
import { openIngest } from '../parts/ingest.ts'
import type { Part } from '../parts/part.ts'
import { openTesting } from '../parts/testing.ts'
import { openUserCode } from '../parts/user-code.ts'
import { openCatalogAnswering } from './catalog/answering.ts'
import { openCatalogCounting } from './catalog/counting.ts'
import { ConfiguredSpans } from './configured-spans.ts'
import { type ClusterDelivery, openClusterDelivery } from './delivery.ts'
import { type ClusterEngines, type ClusterSettings, openEngines } from './engines.ts'
import { FollowedConfiguration } from './followed-configuration.ts'
import { joinWithLeases } from './lease-member.ts'
import { refuseLostPartitions } from './lost-partitions.ts'
import { noBackups } from './no-backups.ts'
import { openClusterOperations, openStatistics } from './operations.ts'
import { joinWithoutLeases } from './plain-member.ts'
import { PostgresHealth } from './postgres-health.ts'
import { SharedAuthorizations } from './shared/shared-authorizations.ts'
import { SharedLogLines } from './shared/shared-log-lines.ts'
import { RefusalReports, SharedRefusals } from './shared/shared-refusals.ts'
import { type ClusterView, openClusterView } from './view.ts'

export type ComposeClusterOptions = ComposeOptions & { readonly settings: ClusterSettings }

/** One process of a cluster. */
export interface ClusterProcess {
  readonly controlPlane: ControlPlane
  readonly roles: ReadonlySet<ProcessRole>
  readonly routes: RouteBook
  /** URL of this process on its own machine. */
  readonly baseUrl: string
  /** Stops accepting work, gives its shards back within MILLRACE_SHUTDOWN_SECONDS, and closes everything. */
  stop(): Promise<void>
}

/** A configuration that is not confirmed for this long is told in /health. */
const OLD_SNAPSHOT_MS = 10_000
/** The log's volume belongs to the brokers. */
const NO_FLOOR = { isLow: false, trouble: () => undefined }
/** Owners of shards read the log: what this gateway has parsed may be delivered by another process. */
const NOT_KEPT = { keep: () => {}, drop: () => {} }

/** Composes a process over Kafka and Postgres, with the parts of its roles. @see contracts/cluster.md §1 */
export async function composeCluster(options: ComposeClusterOptions): Promise<ClusterProcess> {
  const { settings, folder, front, faults, dashboardFolder, shownSettings, logger } = options
  const { roles } = settings
  const clock = options.clock ?? systemClock
  const common = { settings, folder, faults, logger, clock }
  // Closes in reverse order, also if a later part fails to open.
  await using opened = new AsyncDisposableStack()
  const { port } = front.address
  const baseUrl = urlOfServer({ host: settings.host, port })
  const ending = new Ending(faults)
  const engines = opened.use(await openEngines(settings, common))
  const destinationCatalog = opened.use(openDestinationCatalog(common))
  const registry = await DestinationRegistry.load({ more: destinationCatalog.types, now: () => clock.now() })
  const tokens = new TokenExchange({ clock })
  const outbound = opened.adopt(new OutboundClients(settings, clock, tokens), (clients) => clients.close())
  const userCode = opened.use(openUserCode({ ...common, outbound, program: options.transformationProgram }))
  const { sandboxes } = userCode

  const store = await PostgresDeliveryStore.open({
    ...{ pool: engines.delivery, process: 'control', clock, logger },
    onFault: (error) => faults.report('The delivery store cannot be used', error),
  })
  opened.defer(() => store.close())
  const spans = new ConfiguredSpans(engines)
  const logLines = opened.use(new SharedLogLines(engines.delivery, clock, logger))
  const control = opened.use(
    await openControl({
      ...{ ...common, logLines },
      store: postgresControlStore(engines.control, engines.notifications),
      partitions: engines.log.homes,
      secretKey: settings.secretKey,
      // The processes of a cluster take over each other's sessions.
      ...{ registry, sandboxes, serverName: 'cluster' },
    }),
  )
  const { controlPlane, callers } = control
  refuseLostPartitions(controlPlane.snapshot(), engines.log, settings.kafkaPrefix)
  const shared = { ...common, engines, store, controlPlane, callers, registry, sandboxes, outbound, ending }

  let delivery: ClusterDelivery | undefined
  let view: ClusterView | undefined
  const configuration: FollowedConfiguration = new FollowedConfiguration({
    ...{ controlPlane, clock, logger },
    spansOf: (snapshot) => spans.of(snapshot),
    apply: async (configured) => {
      await view?.follow(configured)
      await delivery?.follow(configured)
    },
  })
  opened.defer(() => configuration.stop())
  const configured = await configuration.newest()
  if (roles.has('control')) view = opened.use(openClusterView({ ...shared, configured }))
  const worksUnderLeases = roles.has('pipeline') || roles.has('catalog')
  const address = `${isWildcard(settings.host) ? hostname() : settings.host}:${port}`
  const member = worksUnderLeases ? opened.use(joinWithLeases({ ...shared, address })) : undefined
  const members = member?.leases ?? opened.use(joinWithoutLeases({ ...shared, address }))
  if (roles.has('pipeline')) {
    const ofDelivery = { ...shared, member: member!, configuration: () => configuration }
    delivery = opened.use(await openClusterDelivery(ofDelivery))
  }
  controlPlane.attach({
    waiting: async (scope) => (await store.figures.waiting(scope)) + (await store.deadLetters.countOpen(scope)),
    countByRules: (asked) => view!.events.count(asked),
    changed: (_before, after) => configuration.apply(after),
    beside: (after) => spans.beside(after),
  })
  await configuration.apply(controlPlane.snapshot())

  const counting = roles.has('catalog')
    ? opened.use(await openCatalogCounting({ ...shared, member: member! }))
    : undefined
  const answering = roles.has('control') ? opened.use(openCatalogAnswering(shared)) : undefined
  const storage = { log: engines.log, disk: NO_FLOOR }
  const gateways = () => members.members('gateway')
  const ingest = roles.has('gateway')
    ? opened.use(openIngest({ ...shared, storage, parsed: NOT_KEPT, baseUrl, gateways }))
    : undefined
  const refusals = new SharedRefusals(engines.delivery)
  if (ingest !== undefined) opened.use(new RefusalReports(ingest.refusals, refusals, clock, logger))
  const ofOperations = {
    ...{ ...shared, shownSettings, dashboardFolder, delivery, ingest: ingest?.counts },
    ...{ statistics: store.statistics, shortStatistics: store.shortStatistics },
  }
  const authorizations = new SharedAuthorizations(engines.control, settings.secretKey)
  const statistics = opened.use(await openStatistics(ofOperations))
  const parts = [
    ...(ingest === undefined ? [] : [{ ...ingest, v2Routes: [] }, logPart(engines)]),
    ...(roles.has('control')
      ? controlParts(ofOperations, { ...shared, authorizations }, statistics.stats, refusals)
      : []),
    ...[view, delivery, counting, answering, member].filter((part) => part !== undefined),
    ...[
      { ...control, checks: {} },
      configurationPart(controlPlane, engines, shared),
      destinationCatalog,
      userCode,
      statistics,
    ],
  ]
  const hasDashboard = dashboardFolder !== undefined && roles.has('control')
  const mounted = opened.use(await mount({ ...shared, parts, roles, hasDashboard }))
  // Only here: another process that still has an earlier token must not make it valid again.
  if (roles.has('control')) {
    const owner = await controlPlane.ensureOwner({ email: settings.ownerEmail, token: settings.ownerToken })
    if (owner.isReplaced)
      logger.warn({}, 'MILLRACE_OWNER_TOKEN was replaced by another process and is not valid any more: set the new one')
  }
  front.serve(mounted.handler)
  const running = opened.move()
  return {
    ...{ controlPlane, roles, baseUrl, routes: mounted.book },
    async stop() {
      ending.begin()
      const deadline = new Promise<void>((resolve) => setTimeout(resolve, settings.shutdownMs).unref())
      const drained = Promise.all(parts.map((part: Part) => part.drain?.(deadline)))
      await front.stop(drained, deadline)
      await running.disposeAsync()
    },
  }
}

function controlParts(
  needs: Parameters<typeof openClusterOperations>[0],
  shared: Parameters<typeof openTesting>[0],
  stats: Parameters<typeof openClusterOperations>[1],
  refusals: SharedRefusals,
): Part[] {
  return [openClusterOperations(needs, stats, refusals), openTesting(shared), noBackups()]
}

/** The log as a gateway writes it. */
function logPart({ log }: ClusterEngines): Part {
  return {
    checks: {
      log: {
        stops: 'accepting',
        trouble: () =>
          log.check().then(
            () => undefined,
            (error: Error) => error.message,
          ),
      },
      topics: { trouble: () => log.topicWarning() },
    },
    [Symbol.asyncDispose]: async () => {},
  }
}

/** The configuration of this process, and the database that it comes from. */
function configurationPart(
  controlPlane: ControlPlane,
  engines: ClusterEngines,
  { settings, clock }: { settings: ClusterSettings; clock: ConstructorParameters<typeof PostgresHealth>[1] },
): Part {
  const health = new PostgresHealth(engines.control, clock)
  const isControl = settings.roles.has('control')
  return {
    checks: {
      config: {
        trouble: () => {
          const ageMs = controlPlane.snapshotAgeMs() ?? 0
          return ageMs < OLD_SNAPSHOT_MS ? undefined : `last confirmed ${Math.round(ageMs / 1_000)} s ago`
        },
      },
      ...(isControl ? { database: { trouble: () => health.trouble(), stops: 'routing' as const } } : {}),
    },
    metrics: () => [
      gauge(
        'millrace_snapshot_age_seconds',
        'Time since the configuration of this process was confirmed as the stored one.',
        (controlPlane.snapshotAgeMs() ?? 0) / 1_000,
      ),
    ],
    [Symbol.asyncDispose]: async () => {},
  }
}

/** Every process of a cluster may listen on all addresses: people find it by the name of its machine. */
function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}
