import { DestinationCatalog } from '@millrace/destination-catalog'
import type { MoreTypes } from '@millrace/destinations'
import type { Clock } from '@millrace/std'
import type { Settings } from '../config/settings.ts'
import type { DataFolder } from '../data-folder/data-folder.ts'
import { catalogTrouble, catalogTypes } from '../destination-catalog/catalog-types.ts'
import { VerifiedTypes } from '../destination-catalog/verified-types.ts'
import { counter, type MetricSample } from '../http/prometheus-text.ts'
import type { ServerLogger } from '../logger.ts'
import type { Part } from './part.ts'

interface DestinationCatalogNeeds {
  readonly settings: Settings
  readonly folder: DataFolder
  readonly clock: Clock
  readonly logger: ServerLogger
}

/** The destination types of the community package. Nothing of it is loaded before one of them is used. */
export function openDestinationCatalog(needs: DestinationCatalogNeeds): Part & { readonly types: MoreTypes } {
  const { settings, folder, clock, logger } = needs
  const catalog = new DestinationCatalog({
    clock,
    logger,
    workers: settings.destinationCatalogWorkers,
    memoryMb: settings.destinationCatalogMemoryMb,
  })
  const verified = new VerifiedTypes(folder.file('verified-types'), (error) =>
    logger.warn({ err: error }, 'a type of the destination catalog cannot be noted as verified'),
  )
  return {
    types: catalogTypes(catalog, catalogTrouble(settings), verified),
    metrics: () => [
      counter(
        'millrace_destination_catalog_blocked_total',
        'Attempts of catalog destinations to use network, processes or files.',
        [...catalog.blocked].map(([key, count]): MetricSample => {
          const [slug, what] = key.split(' ') as [string, string]
          return [{ slug, what }, count]
        }),
      ),
    ],
    [Symbol.asyncDispose]: () => catalog[Symbol.asyncDispose](),
  }
}
