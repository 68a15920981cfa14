import type { ControlPlane } from '@millrace/control-plane'
import {
  type CatalogStatus,
  CUT_KINDS,
  catalogRoutes,
  type SchemaCatalog,
  SchemaRoutes,
  schemaInWords,
} from '@millrace/schema-catalog'
import type { Clock } from '@millrace/std'
import type { Settings } from '../config/settings.ts'
import type { DataFolder } from '../data-folder/data-folder.ts'
import type { Callers } from '../http/callers.ts'
import { counter, gauge, type MetricSample } from '../http/prometheus-text.ts'
import type { ServerLogger } from '../logger.ts'
import type { Part } from '../parts/part.ts'
import { AdminCredentials } from './admin-credentials.ts'

interface SchemaApiNeeds {
  readonly catalog: Pick<SchemaCatalog, 'ask' | 'status' | 'rebuild'>
  readonly folder: DataFolder
  readonly settings: Settings
  readonly controlPlane: ControlPlane
  readonly callers: Callers
  readonly clock: Clock
  readonly logger: ServerLogger
}

/** The routes below /schemas/, with their credentials, and those below /v2 that change the catalog. */
export interface SchemaApi extends Required<Pick<Part, 'described' | 'handle' | 'v2Routes'>> {
  readonly admin: AdminCredentials
}

export function schemaApi(needs: SchemaApiNeeds): SchemaApi {
  const { catalog, folder, settings, controlPlane, callers, clock, logger } = needs
  const admin = new AdminCredentials({
    user: settings.serviceAdminUser,
    password: settings.serviceAdminPassword,
    file: folder.file('admin-password'),
    clock,
    isUser: async (request) => (await callers.actor(request)) !== undefined,
    carriesSession: (request) => callers.isDashboard(request),
    addressOf: (request) => callers.address(request),
  })
  const schemas = new SchemaRoutes({
    catalog,
    checkCredentials: (request) => admin.check(request),
    sourceOfKey: (writeKey) => controlPlane.snapshot().sourceByWriteKey(writeKey),
    onError: (error) => logger.error({ err: error }, 'a request failed'),
  })
  return {
    admin,
    described: schemaInWords(),
    handle: (request, response) => schemas.handle(request, response),
    v2Routes: [catalogRoutes(catalog)],
  }
}

export function schemaMetrics(lagSeconds: number, sources: CatalogStatus['sources']): string[] {
  const cuts = CUT_KINDS.map((kind): MetricSample => [{ kind }, sources.reduce((sum, { cut }) => sum + cut[kind], 0)])
  return [
    gauge(
      'millrace_schema_lag_seconds',
      'Age of the oldest event that the schema catalog has not counted yet.',
      lagSeconds,
    ),
    counter('millrace_schema_cut_total', 'Cuts by limits of the schema catalog.', cuts),
  ]
}
