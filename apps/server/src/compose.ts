import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import {
  ControlPlane,
  decodeBody,
  MILLRACE,
  parseBody,
  readBody,
  type SourceType,
  sourceClass,
  trustedAddresses,
} from '@millrace/control-plane'
import { DeliveryStore, isLoopbackHost } from '@millrace/delivery'
import { DestinationRegistry, Masking } from '@millrace/destinations'
import { Gateway, ingestInWords } from '@millrace/gateway'
import { SqliteEventLog } from '@millrace/log'
import { RouteBook } from '@millrace/openapi'
import {
  deliveryRoutes,
  liveRoute,
  Pipeline,
  Stats,
  statsRoutes,
  TRANSFORM_CLIENT_BOUNDS,
  TransformClients,
  transformFetch,
} from '@millrace/pipeline'
import { formatTime } from '@millrace/protocol'
import { catalogRoutes, SchemaCatalog, SchemaRoutes, schemaInWords } from '@millrace/schema-catalog'
import { type Clock, RateLimiter, systemClock } from '@millrace/std'
import { connectionTestRoute, testApiRoutes } from '@millrace/test-api'
import { Sandboxes, transformationTemplates } from '@millrace/transformations'
import { Acceptance } from './acceptance.ts'
import { backupRoutes } from './backup/backup-routes.ts'
import { Backups } from './backup/backups.ts'
import { AdminCredentials } from './catalog/admin-credentials.ts'
import { catalogLimits, catalogSources } from './catalog/catalog-sources.ts'
import type { LogPlace } from './catalog/thread.ts'
import type { Settings } from './config/settings.ts'
import { DashboardFiles } from './dashboard/dashboard-files.ts'
import { dashboardRoutes } from './dashboard/dashboard-routes.ts'
import type { DataFolder } from './data-folder/data-folder.ts'
import { destinationTypesOf } from './destination-types.ts'
import { DiskSpace } from './disk-space.ts'
import type { Faults } from './faults.ts'
import { gatewaySources } from './gateway-sources.ts'
import { openApp } from './http/app.ts'
import { Callers } from './http/callers.ts'
import type { Front } from './http/front.ts'
import { health } from './http/health.ts'
import { metricsText } from './http/metrics.ts'
import { publicAddress } from './http/public-address.ts'
import { refusalRoutes } from './http/refusal-routes.ts'
import { sourceConfigRoute } from './http/source-config.ts'
import { statusRoutes } from './http/status-routes.ts'
import type { ServerLogger } from './logger.ts'
import { OutboundClients } from './outbound-clients.ts'
import { Inbox } from './quickstart/inbox.ts'
import { VERSION } from './version.ts'
import { webLibraryRoutes } from './web-library/web-library-routes.ts'

const TRACES_KEPT_MS = 168 * 3_600_000
/** Of an answer that a test shows. */
const MAX_SHOWN_ANSWER_BYTES = 1024 * 1024

export interface ComposeOptions {
  readonly settings: Settings
  /** By name, secrets masked: what /v2/admin/info shows. */
  readonly shownSettings: Record<string, string | number | null>
  readonly folder: DataFolder
  /** What a build of the dashboard left; undefined: there is none below /ui. */
  readonly dashboardFolder?: string | undefined
  readonly front: Front
  /** Another program for the processes of user code. */
  readonly transformationProgram?: string
  readonly logger: ServerLogger
  readonly clock?: Clock
  /** Where faults of our own are reported; whoever composes ends the process then. */
  readonly faults: Faults
}

/** The running product. */
export interface Product {
  readonly controlPlane: ControlPlane
  readonly pipeline: Pipeline
  readonly inbox: Inbox
  /** Of the schema API. */
  readonly admin: AdminCredentials
  /** Every route that it answers. */
  readonly routes: RouteBook
  /** Of this server, as its own machine reaches it. */
  readonly baseUrl: string
  /** Takes nothing new, finishes what is in progress within the time that the settings give, and closes everything. */
  stop(): Promise<void>
}

/** Joins everything: the only place that knows all the parts, and hands each what it needs of the others by its shape. */
export async function compose(options: ComposeOptions): Promise<Product> {
  const { settings, shownSettings, folder, dashboardFolder, front, logger, faults, clock = systemClock } = options
  // Closed in the reverse order, also when a later part does not open.
  await using opened = new AsyncDisposableStack()
  const baseUrl = baseUrlOf(settings.host, front.address.port)
  const disk = new DiskSpace(folder.path, settings.minFreeDiskBytes, clock)
  const registry = await DestinationRegistry.load()
  let isStopping = false

  const outbound = new OutboundClients(settings, clock)
  const newTestClient = () => outbound.make({ maxAnswerBytes: MAX_SHOWN_ANSWER_BYTES })
  const transformClients = new TransformClients(() => outbound.make(TRANSFORM_CLIENT_BOUNDS))
  const transformations = new Sandboxes({
    limits: {
      memoryMb: settings.transformMemoryMb,
      sandboxes: settings.transformSandboxes,
      workers: settings.transformWorkers,
      totalMb: settings.transformTotalMb,
      syncMs: settings.transformSyncMs,
      wallMs: settings.transformWallMs,
    },
    fetch: settings.isTransformFetchOn ? transformFetch(transformClients, VERSION, clock) : undefined,
    clock,
    logger,
    ...(options.transformationProgram === undefined ? {} : { program: options.transformationProgram }),
  })
  opened.defer(() => outbound.close())
  opened.defer(() => transformClients.close())
  opened.defer(() => transformations.close())
  let pipeline: Pipeline | undefined
  // It and then the store may refuse to start; the log, which may not, comes after them: then nothing has been written.
  const controlPlane = await ControlPlane.open({
    file: folder.file('control.db'),
    secretKey: folder.secretKey(settings.secretKey),
    clock,
    random: randomBytes,
    version: VERSION,
    destinationTypes: destinationTypesOf(registry),
    deliveries: {
      waiting: async (scope) => (await pipeline?.waiting(scope)) ?? 0,
      changed: (_before, after) => pipeline?.configure(after),
    },
    code: transformations,
    codeTemplates: transformationTemplates,
    maskingOf: (secrets) => new Masking(secrets),
    facts: async () => {
      const oldest = await log.oldest()
      return {
        logBytes: log.sizeBytes(),
        logOldestAt: oldest === undefined ? null : formatTime(oldest.acceptedAt),
        lastBackup: backups.last === null ? null : { ...backups.last },
        settings: shownSettings,
      }
    },
    logger,
    apiRequestsPerMinute: settings.apiRequestsPerMinute,
    port: front.address.port,
    trustedProxies: settings.trustedProxies,
  })
  opened.use(controlPlane)
  const store = await DeliveryStore.open({
    file: folder.file('delivery.db'),
    clock,
    logger,
    onFault: (error) => faults.report('The thread that writes outcomes of deliveries ended', error),
  })
  opened.defer(() => store.close())
  folder.noteFormat()
  const positions = await store.call('positions', undefined)
  mkdirSync(folder.file('log'), { recursive: true })
  const catalog = new SchemaCatalog({
    file: folder.file('catalog.db'),
    limits: catalogLimits(settings),
    clock,
    logger,
    thread: {
      file: new URL('./catalog/thread.ts', import.meta.url),
      data: { logDirectory: folder.file('log') } satisfies LogPlace,
    },
    onFault: (error) => faults.report('The thread of the schema catalog ended', error),
  })
  const log = await SqliteEventLog.open({
    directory: folder.file('log'),
    clock,
    onFault: (error) => faults.report('The thread that writes the log ended', error),
    onReaderEnd: (error) => logger.warn({ err: error }, 'a thread that reads ended; it starts again'),
    notBefore: Math.max(catalog.neededFrom(), ...positions.map(({ position }) => position.offset)),
    maxRecordBytes: settings.maxBodyBytes + 1024 * 1024,
    hasDedup: [...controlPlane.snapshot().sources.values()].some(({ config }) => config.dedupWindowSeconds > 0),
  })
  opened.use(log)
  opened.defer(() => catalog.close())
  pipeline = await Pipeline.start({
    log,
    store,
    configuration: controlPlane.snapshot(),
    findModule: (type) => registry.find(type),
    sourceClass: (type) => sourceClass(type as SourceType),
    newClient: (more) => outbound.make(more),
    userCode: {
      run: (run) => transformations.run(run),
      credentials: () => controlPlane.credentials.values(),
      capturesLogs: (id) => controlPlane.snapshot().transformations.get(id)?.captureLogs === true,
      onLog: (id, line) => controlPlane.logLines.add(id, [line]),
    },
    clock,
    random: Math.random,
    userAgent: `Millrace/${VERSION}`,
    memoryBytes: settings.deliveryMemoryBytes,
    traces: { keepMs: TRACES_KEPT_MS, maxBytes: settings.traceMaxBytes },
    logKeepMs: settings.logRetentionMs,
    otherReader: catalog,
    backlogMaxBytes: settings.backlogMaxBytes ?? Math.floor(disk.volumeBytes / 2),
    logMaxBytes: settings.logMaxBytes ?? Math.floor(disk.volumeBytes / 4),
    isDiskShort: () => disk.isShort,
    uncleanEnds: settings.uncleanEnds,
    tellExpired: (destinationId, count) => {
      const diff = [{ path: '/expired', from: null, to: count }]
      controlPlane.audit.done(MILLRACE, { action: 'expire', kind: 'destination', resourceId: destinationId, diff })
    },
    logger,
  })
  const running = pipeline
  opened.defer(() => running.stop(Promise.resolve()))
  catalog.follow(log, catalogSources(controlPlane.snapshot()))
  controlPlane.onChange((snapshot) => {
    catalog.configure(catalogSources(snapshot)).catch((error: Error) => {
      logger.error({ err: error }, 'the schema catalog cannot be told of sources')
    })
  })

  const callers = new Callers(controlPlane)
  const acceptance = new Acceptance({
    log,
    disk,
    isStopping: () => isStopping,
    fault: () => faults.first?.what,
    logger,
  })
  let syncFailures = 0
  const gateway = new Gateway({
    log: {
      append: (stream, record, dedup) => {
        const appended = log.append(stream, record, dedup)
        appended.catch(() => syncFailures++)
        return appended
      },
    },
    parsed: running,
    findSource: gatewaySources(
      () => controlPlane.snapshot(),
      (key) => controlPlane.credentials.values().get(key),
    ),
    obstacle: () => acceptance.obstacle(),
    addressOf: (request) => callers.holder(request),
    limits: {
      maxBodyBytes: settings.maxBodyBytes,
      maxEventBytes: settings.maxEventBytes,
      maxNesting: settings.maxNesting,
      maxBatchEvents: settings.maxBatchEvents,
      maxConcurrentRequests: settings.maxConcurrentRequests,
      maxBodyBytesInProgress: settings.maxBodyBytesInProgress,
      bodyTimeoutMs: 30_000,
    },
    clock,
    logger,
  })

  opened.defer(() => gateway.close())

  const stats = new Stats({
    ingest: gateway.metrics,
    metrics: running.metrics,
    deliveries: () => running.deliveries(),
    store,
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
  const testApiRates = new RateLimiter(clock)
  const book = new RouteBook()
  book.add(ingestInWords())
  book.add(schemaInWords())
  const admin = new AdminCredentials({
    user: settings.serviceAdminUser,
    password: settings.serviceAdminPassword,
    file: folder.file('admin-password'),
    clock,
    isUser: async (request) => (await callers.actor(request)) !== undefined,
    carriesSession: (request) => callers.isDashboard(request),
    addressOf: (request) => callers.address(request),
  })
  opened.defer(() => admin.close())
  const schemas = new SchemaRoutes({
    catalog,
    checkCredentials: (request) => admin.check(request),
    sourceOfKey: (writeKey) => controlPlane.snapshot().sourceByWriteKey(writeKey),
    onError: (error) => logger.error({ err: error }, 'a request failed'),
  })
  const app = await openApp(
    controlPlane,
    [
      statusRoutes({
        health: () =>
          health({
            log,
            disk,
            catalogTrouble: () => catalog.trouble(),
            deliveryTrouble: () => running.trouble(),
            backlogWarning: () => running.backlogWarning(),
            readerTrouble: () => log.readerTrouble() ?? running.readerTrouble(),
            fault: () => faults.first?.what,
            now: () => clock.now(),
          }),
        notReady: () => {
          if (faults.first !== undefined) return 'ending after a fault'
          return isStopping ? 'shutting down' : undefined
        },
        metrics: () =>
          metricsText({
            ingest: gateway.metrics,
            pipeline: running,
            log,
            disk,
            transformations: transformations.figures(),
            catalog,
            openDeadLetters: () => store.call('openDeadLettersByDestination', undefined),
            syncFailures: () => syncFailures,
            now: () => clock.now(),
          }),
        metricsToken: settings.metricsToken,
        isLoopbackOnly: isLoopbackHost(settings.host),
        isAdmin: async (request) => (await callers.actor(request))?.role === 'admin',
        hasDashboard: dashboardFolder !== undefined,
      }),
      ...(dashboardFolder === undefined
        ? []
        : [dashboardRoutes({ files: new DashboardFiles(dashboardFolder), random: randomBytes })]),
      sourceConfigRoute({
        snapshot: () => controlPlane.snapshot(),
        findModule: (type) => registry.find(type),
        publicUrl: settings.publicUrl,
      }),
      webLibraryRoutes({
        isSource: (writeKey) => controlPlane.snapshot().sourceByWriteKey(writeKey) !== undefined,
        publicAddress: publicAddress({
          configured: settings.publicUrl,
          isTrustedProxy: trustedAddresses(settings.trustedProxies),
          fallback: baseUrl,
        }),
      }),
      inbox.routes(
        ({ raw }) => callers.actor(raw),
        () => clock.now(),
      ),
      testApiRoutes({
        configuration: () => controlPlane.snapshot(),
        destinationTypes: registry,
        sourceClass: (type) => sourceClass(type as SourceType),
        userCode: transformations,
        credentials: () => controlPlane.credentials.values(),
        newClient: newTestClient,
        authenticate: ({ raw }, id) => callers.tester(raw, id),
        isFromDashboard: ({ raw }) => callers.isDashboard(raw),
        takeRequest: (tokenId) => testApiRates.take(tokenId, settings.testApiRequestsPerMinute),
        bodies: { read: readBody, decode: decodeBody, parse: parseBody },
        isReady: () => !isStopping,
        clock,
        version: VERSION,
        limits: {
          maxBodyBytes: settings.maxBodyBytes,
          maxEventBytes: settings.maxEventBytes,
          concurrency: settings.testApiConcurrency,
          timeoutMs: settings.testApiTimeoutMs,
        },
        areDefinitionsOpen: settings.areDefinitionsOpen,
        logger,
      }),
    ],
    [
      deliveryRoutes(running),
      liveRoute(running.live, ({ actor }) => controlPlane.isCurrent(actor)),
      backupRoutes(backups),
      catalogRoutes(catalog),
      refusalRoutes(gateway.refusals),
      connectionTestRoute({
        configuration: () => controlPlane.snapshot(),
        destinationTypes: registry,
        newClient: newTestClient,
        isReady: () => !isStopping,
        clock,
        version: VERSION,
      }),
      statsRoutes({ stats, clock, ids: (kind) => [...controlPlane.snapshot()[STATS_OF[kind]].keys()] }),
    ],
    book,
    logger,
  )
  opened.defer(() => app.close())
  const parts = opened.move()
  front.serve((request, response) => {
    if (gateway.handle(request, response)) return
    // The gateway judges a request before it lets the client send the body; all others take what comes.
    if (request.headers.expect !== undefined) response.writeContinue()
    if (schemas.handle(request, response)) return
    app.routing(request, response)
  })

  return {
    controlPlane,
    pipeline: running,
    inbox,
    admin,
    routes: book,
    baseUrl,
    async stop() {
      isStopping = true
      const deadline = new Promise<void>((resolve) => setTimeout(resolve, settings.shutdownMs).unref())
      await front.stop(running.stop(deadline), deadline)
      await parts.disposeAsync()
    },
  }
}

const STATS_OF = { source: 'sources', transformation: 'transformations', destination: 'destinations' } as const

/** What listens on every address is reached over loopback. */
function baseUrlOf(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
