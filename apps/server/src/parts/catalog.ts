import type { ControlPlane } from '@millrace/control-plane'
import type { Clock } from '@millrace/std'
import type { AdminCredentials } from '../catalog/admin-credentials.ts'
import { catalogSources } from '../catalog/catalog-sources.ts'
import { schemaApi, schemaMetrics } from '../catalog/schema-api.ts'
import type { Settings } from '../config/settings.ts'
import type { DataFolder } from '../data-folder/data-folder.ts'
import type { Callers } from '../http/callers.ts'
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
  const { controlPlane, logger } = needs
  const { log, catalog } = needs.storage
  const { admin, ...api } = schemaApi({ ...needs, catalog })
  catalog.follow(log, catalogSources(controlPlane.snapshot()))
  controlPlane.onChange((snapshot) => {
    catalog.configure(catalogSources(snapshot)).catch((error: Error) => {
      logger.error({ err: error }, 'sources cannot be sent to the schema catalog')
    })
  })
  return {
    role: 'catalog',
    admin,
    ...api,
    checks: { catalog: { trouble: () => catalog.trouble() } },
    metrics: async () => {
      // /health reports an unreadable catalog; the other metrics are still valid.
      const sources = (await catalog.status().catch(() => undefined))?.sources ?? []
      return schemaMetrics(await catalog.lagSeconds(), sources)
    },
    [Symbol.asyncDispose]: async () => admin.close(),
  }
}
