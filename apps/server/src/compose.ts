import type { ControlPlane } from '@millrace/control-plane'
import { DestinationRegistry } from '@millrace/destinations'
import type { RouteBook } from '@millrace/openapi'
import type { Pipeline } from '@millrace/pipeline'
import { type Clock, systemClock } from '@millrace/std'
import type { AdminCredentials } from './catalog/admin-credentials.ts'
import type { Settings } from './config/settings.ts'
import type { DataFolder } from './data-folder/data-folder.ts'
import { Ending } from './ending.ts'
import type { Faults } from './faults.ts'
import type { Front } from './http/front.ts'
import { mount } from './http/mount.ts'
import type { ServerLogger } from './logger.ts'
import { OutboundClients } from './outbound-clients.ts'
import { startCatalog } from './parts/catalog.ts'
import { openControl } from './parts/control.ts'
import { startDelivery } from './parts/delivery.ts'
import { openIngest } from './parts/ingest.ts'
import { openOperations } from './parts/operations.ts'
import type { Part } from './parts/part.ts'
import { openTesting } from './parts/testing.ts'
import { openUserCode } from './parts/user-code.ts'
import type { Inbox } from './quickstart/inbox.ts'
import { openStorage } from './storage.ts'

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

/** Opens the parts one after the other, and hands each what it needs of those before it. A failure closes what is open. */
export async function compose(options: ComposeOptions): Promise<Product> {
  const { settings, folder, front, faults, dashboardFolder } = options
  const common = { settings, folder, faults, logger: options.logger, clock: options.clock ?? systemClock }
  // Closed in the reverse order, also when a later part does not open.
  await using opened = new AsyncDisposableStack()
  const { port } = front.address
  const baseUrl = baseUrlOf(settings.host, port)
  const ending = new Ending(faults)
  const registry = await DestinationRegistry.load()
  const outbound = opened.adopt(new OutboundClients(settings, common.clock), (clients) => clients.close())

  const program = options.transformationProgram
  const userCode = opened.use(openUserCode({ ...common, outbound, program }))
  const { sandboxes } = userCode
  const control = opened.use(await openControl({ ...common, registry, sandboxes, port }))
  const { controlPlane, callers } = control
  const storage = opened.use(await openStorage({ ...common, hasDedup: control.hasDedup }))
  const shared = { ...common, storage, controlPlane, callers, registry, sandboxes, outbound, ending }
  const delivery = opened.use(await startDelivery(shared))
  const { pipeline } = delivery
  const catalog = opened.use(startCatalog(shared))
  const ingest = opened.use(openIngest({ ...shared, parsed: pipeline.parsed, baseUrl }))
  const testing = opened.use(openTesting(shared))
  const { shownSettings } = options
  const given = { pipeline, ingest: ingest.counts, shownSettings, dashboardFolder }
  const operations = opened.use(await openOperations({ ...shared, ...given }))

  const all: Part[] = [ingest, storage, control, catalog, delivery, userCode, testing, operations]
  const parts = all.filter(({ role }) => role === undefined || settings.roles.has(role))
  const hasDashboard = dashboardFolder !== undefined
  const mounted = opened.use(await mount({ ...shared, parts, hasDashboard }))
  front.serve(mounted.handler)
  const running = opened.move()
  return {
    controlPlane,
    pipeline,
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

/** What listens on every address is reached over loopback. */
function baseUrlOf(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
