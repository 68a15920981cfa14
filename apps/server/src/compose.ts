import { type ControlPlane, sqliteControlStore } from '@millrace/control-plane'
import { TokenExchange } from '@millrace/delivery'
import { DestinationRegistry } from '@millrace/destinations'
import type { RouteBook } from '@millrace/openapi'
import type { DeliveryHost } from '@millrace/pipeline'
import { type Clock, systemClock } from '@millrace/std'
import type { AdminCredentials } from './catalog/admin-credentials.ts'
import { type Settings, urlOfServer } from './config/settings.ts'
import type { DataFolder } from './data-folder/data-folder.ts'
import { Ending } from './ending.ts'
import type { Faults } from './faults.ts'
import type { Front } from './http/front.ts'
import { mount } from './http/mount.ts'
import { LOG_PARTITIONS } from './log-partitions.ts'
import type { ServerLogger } from './logger.ts'
import { OutboundClients } from './outbound-clients.ts'
import { startCatalog } from './parts/catalog.ts'
import { openControl } from './parts/control.ts'
import { startDelivery } from './parts/delivery.ts'
import { openDestinationCatalog } from './parts/destination-catalog.ts'
import { openIngest } from './parts/ingest.ts'
import { openOperations } from './parts/operations.ts'
import type { Part } from './parts/part.ts'
import { openTesting } from './parts/testing.ts'
import { openUserCode } from './parts/user-code.ts'
import type { Inbox } from './quickstart/inbox.ts'
import { openStorage } from './storage.ts'

export interface ComposeOptions {
  readonly settings: Settings
  /** Settings by name with secrets masked, as /v2/admin/info shows them. */
  readonly shownSettings: Record<string, string | number | null>
  readonly folder: DataFolder
  /** Output of the dashboard build; undefined: no dashboard is served. */
  readonly dashboardFolder?: string | undefined
  readonly front: Front
  /** Replaces the program of the user-code processes. */
  readonly transformationProgram?: string
  readonly logger: ServerLogger
  readonly clock?: Clock
  /** Receives internal faults; the caller then ends the process. */
  readonly faults: Faults
}

/** The running product. */
export interface Product {
  readonly controlPlane: ControlPlane
  readonly delivery: DeliveryHost
  readonly inbox: Inbox
  /** Credentials of the schema API. */
  readonly admin: AdminCredentials
  /** Every route of the server. */
  readonly routes: RouteBook
  /** URL of this server on its own machine. */
  readonly baseUrl: string
  /** Stops accepting work, drains within MILLRACE_SHUTDOWN_SECONDS, and closes everything. */
  stop(): Promise<void>
}

/** Opens the parts in order and passes each its inputs from earlier parts. If one fails to open, the open ones are closed. */
export async function compose(options: ComposeOptions): Promise<Product> {
  const { settings, folder, front, faults, dashboardFolder } = options
  const common = { settings, folder, faults, logger: options.logger, clock: options.clock ?? systemClock }
  // Closes in reverse order, also if a later part fails to open.
  await using opened = new AsyncDisposableStack()
  const { port } = front.address
  const baseUrl = urlOfServer({ host: settings.host, port })
  const ending = new Ending(faults)
  const destinationCatalog = opened.use(openDestinationCatalog(common))
  const registry = await DestinationRegistry.load({ more: destinationCatalog.types, now: () => common.clock.now() })
  const tokens = new TokenExchange({ clock: common.clock })
  const outbound = opened.adopt(new OutboundClients(settings, common.clock, tokens), (clients) => clients.close())

  const program = options.transformationProgram
  const userCode = opened.use(openUserCode({ ...common, outbound, program }))
  const { sandboxes } = userCode
  const control = opened.use(
    await openControl({
      ...common,
      store: sqliteControlStore(folder.file('control.db')),
      partitions: LOG_PARTITIONS,
      secretKey: folder.secretKey(settings.secretKey),
      registry,
      sandboxes,
      serverName: String(port),
    }),
  )
  const { controlPlane, callers } = control
  const storage = opened.use(await openStorage({ ...common, hasDedup: control.hasDedup }))
  const shared = { ...common, storage, controlPlane, callers, registry, sandboxes, outbound, tokens, ending }
  const delivery = opened.use(await startDelivery(shared))
  const catalog = opened.use(startCatalog(shared))
  const ingest = opened.use(openIngest({ ...shared, parsed: delivery.parsed, baseUrl }))
  const testing = opened.use(openTesting(shared))
  const { shownSettings } = options
  const given = { delivery: delivery.delivery, ingest: ingest.counts, shownSettings, dashboardFolder }
  const operations = opened.use(await openOperations({ ...shared, ...given }))

  const all: Part[] = [ingest, storage, control, catalog, destinationCatalog, delivery, userCode, testing, operations]
  const parts = all.filter(({ role }) => role === undefined || settings.roles.has(role))
  const hasDashboard = dashboardFolder !== undefined
  const mounted = opened.use(await mount({ ...shared, parts, hasDashboard }))
  front.serve(mounted.handler)
  const running = opened.move()
  return {
    controlPlane,
    delivery: delivery.delivery,
    inbox: operations.inbox,
    admin: catalog.admin,
    routes: mounted.book,
    baseUrl,
    async stop() {
      ending.begin()
      const deadline = new Promise<void>((resolve) => setTimeout(resolve, settings.shutdownMs).unref())
      const drained = Promise.all(parts.map((part) => part.drain?.(deadline)))
      await front.stop(drained, deadline)
      await running.disposeAsync()
    },
  }
}
