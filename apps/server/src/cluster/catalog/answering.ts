import type { ControlPlane } from '@millrace/control-plane'
import { CatalogCopy, StoredCatalog } from '@millrace/schema-catalog/cluster'
import type { Clock } from '@millrace/std'
import { catalogLimits, catalogSources } from '../../catalog/catalog-sources.ts'
import { schemaApi } from '../../catalog/schema-api.ts'
import type { DataFolder } from '../../data-folder/data-folder.ts'
import type { Faults } from '../../faults.ts'
import type { Callers } from '../../http/callers.ts'
import type { ServerLogger } from '../../logger.ts'
import type { Part } from '../../parts/part.ts'
import type { ClusterEngines, ClusterSettings } from '../engines.ts'

interface CatalogAnsweringNeeds {
  readonly settings: ClusterSettings
  readonly folder: DataFolder
  readonly engines: ClusterEngines
  readonly controlPlane: ControlPlane
  readonly callers: Callers
  readonly faults: Faults
  readonly clock: Clock
  readonly logger: ServerLogger
}

/** Answers for the schema catalog, from a copy of what another process counts. @see contracts/cluster.md §8 */
export function openCatalogAnswering(needs: CatalogAnsweringNeeds): Part {
  const { settings, folder, engines, controlPlane, faults, clock, logger } = needs
  const copy = new CatalogCopy({
    stored: new StoredCatalog(engines.delivery),
    log: engines.log,
    limits: catalogLimits(settings),
    file: folder.file('catalog-copy.db'),
    threadFile: new URL('./copy-thread.ts', import.meta.url),
    notifications: engines.notifications,
    sources: catalogSources(controlPlane.snapshot()),
    onFault: (error) => faults.report('The thread that answers for the schema catalog ended', error),
    ...{ clock, logger },
  })
  const unlisten = controlPlane.onChange((snapshot) => copy.configure(catalogSources(snapshot)))
  const { admin, ...api } = schemaApi({ ...needs, catalog: copy })
  return {
    role: 'control',
    ...api,
    checks: { schemas: { trouble: () => copy.trouble() } },
    async [Symbol.asyncDispose]() {
      unlisten()
      admin.close()
      await copy.close()
    },
  }
}
