import type { ControlPlane } from '@millrace/control-plane'
import { CUT_KINDS, catalogRoutes, SchemaRoutes, schemaInWords } from '@millrace/schema-catalog'
import type { Clock } from '@millrace/std'
import { AdminCredentials } from '../catalog/admin-credentials.ts'
import { catalogSources } from '../catalog/catalog-sources.ts'
import type { Settings } from '../config/settings.ts'
import type { DataFolder } from '../data-folder/data-folder.ts'
import type { Callers } from '../http/callers.ts'
import { counter, gauge, type MetricSample } from '../http/prometheus-text.ts'
import type { ServerLogger } from '../logger.ts'
import type { StoragePart } from '../storage.ts'
import type { Part } from './part.ts'

interface CatalogNeeds {
  readonly folder: DataFolder
  readonly settings: Settings
  readonly storage: Pick<StoragePart, 'log' | 'catalog'>
  readonly controlPlane: ControlPlane
  readonly callers: Callers
  readonly clock: Clock
  readonly logger: ServerLogger
}

/** The schema catalog and its two APIs. */
export interface CatalogPart extends Part {
  /** Credentials of the schema API. */
  readonly admin: AdminCredentials
}

/** Starts counting the events of the log, for the configured sources. */
export function startCatalog(needs: CatalogNeeds): CatalogPart {
  const { folder, settings, controlPlane, callers, clock, logger } = needs
  const { log, catalog } = needs.storage
  const admin = new AdminCredentials({
    user: settings.serviceAdminUser,
    password: settings.serviceAdminPassword,
    file: folder.file('admin-password'),
    clock,
    isUser: async (request) => (await callers.actor(request)) !== undefined,
    carriesSession: (request) => callers.isDashboard(request),
    addressOf: (request) => callers.address(request),
  })
  catalog.follow(log, catalogSources(controlPlane.snapshot()))
  controlPlane.onChange((snapshot) => {
    catalog.configure(catalogSources(snapshot)).catch((error: Error) => {
      logger.error({ err: error }, 'sources cannot be sent to the schema catalog')
    })
  })
  const schemas = new SchemaRoutes({
    catalog,
    checkCredentials: (request) => admin.check(request),
    sourceOfKey: (writeKey) => controlPlane.snapshot().sourceByWriteKey(writeKey),
    onError: (error) => logger.error({ err: error }, 'a request failed'),
  })
  return {
    role: 'catalog',
    admin,
    described: schemaInWords(),
    handle: (request, response) => schemas.handle(request, response),
    v2Routes: [catalogRoutes(catalog)],
    checks: { catalog: { trouble: () => catalog.trouble() } },
    metrics: async () => {
      // /health reports an unreadable catalog; the other metrics are still valid.
      const sources = (await catalog.status().catch(() => undefined))?.sources ?? []
      const cuts = CUT_KINDS.map(
        (kind): MetricSample => [{ kind }, sources.reduce((sum, { cut }) => sum + cut[kind], 0)],
      )
      const lag = await catalog.lagSeconds()
      return [
        gauge(
          'millrace_schema_lag_seconds',
          'Age of the oldest event that the schema catalog has not counted yet.',
          lag,
        ),
        counter('millrace_schema_cut_total', 'Cuts by limits of the schema catalog.', cuts),
      ]
    },
    [Symbol.asyncDispose]: async () => admin.close(),
  }
}
