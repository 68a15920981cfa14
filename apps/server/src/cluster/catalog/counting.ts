import type { ControlPlane } from '@millrace/control-plane'
import { PostgresStoredDuplicates } from '@millrace/delivery/postgres'
import { CatalogHolder, StoredCatalog } from '@millrace/schema-catalog/cluster'
import type { Clock } from '@millrace/std'
import { catalogLimits, catalogSources } from '../../catalog/catalog-sources.ts'
import { schemaMetrics } from '../../catalog/schema-api.ts'
import type { DataFolder } from '../../data-folder/data-folder.ts'
import type { Faults } from '../../faults.ts'
import type { ServerLogger } from '../../logger.ts'
import type { Part } from '../../parts/part.ts'
import type { ClusterEngines, ClusterSettings } from '../engines.ts'
import type { LeaseMember } from '../lease-member.ts'

interface CatalogCountingNeeds {
  readonly settings: ClusterSettings
  readonly folder: DataFolder
  readonly engines: ClusterEngines
  readonly member: LeaseMember
  readonly controlPlane: ControlPlane
  readonly faults: Faults
  readonly clock: Clock
  readonly logger: ServerLogger
}

/** Counts for the schema catalog while this process holds its lease; otherwise it stands by. @see contracts/cluster.md §8 */
export async function openCatalogCounting(needs: CatalogCountingNeeds): Promise<Part> {
  const { settings, folder, engines, member, controlPlane, faults, clock, logger } = needs
  const { leases } = member
  const duplicates = new PostgresStoredDuplicates(engines.delivery)
  const holder = new CatalogHolder({
    stored: new StoredCatalog(engines.delivery),
    log: engines.log,
    decisions: (partition, from, to) => duplicates.decisions(partition, from, to),
    limits: catalogLimits(settings),
    file: folder.file('catalog.db'),
    threadFile: new URL('./counter-thread.ts', import.meta.url),
    notifications: engines.notifications,
    sources: catalogSources(controlPlane.snapshot()),
    onFenced: (lease) => leases.refused([lease]),
    onFault: (error) => faults.report('The schema catalog thread ended', error),
    ...{ clock, logger },
  })
  const unlisten = controlPlane.onChange((snapshot) => holder.configure(catalogSources(snapshot)))
  await member.joined()
  leases.share(holder, [0])
  return {
    role: 'catalog',
    checks: { catalog: { trouble: () => holder.trouble(), stops: 'routing' } },
    metrics: async () => {
      // A process that stands by shows neither: the figures of all processes may be added up.
      const status = await holder.status().catch(() => undefined)
      return status === undefined ? [] : schemaMetrics(status.lagSeconds, status.sources)
    },
    drain: (deadline) => Promise.race([member.leave(), deadline]),
    async [Symbol.asyncDispose]() {
      unlisten()
      await member.leave()
      await holder.close()
    },
  }
}
