import { DestinationCatalog } from '@millrace/destination-catalog'
import type { MoreTypes } from '@millrace/destinations'
import type { Clock } from '@millrace/std'
import type { Settings } from '../config/settings.ts'
import { catalogTrouble, catalogTypes } from '../destination-catalog/catalog-types.ts'
import { counter, type MetricSample } from '../http/prometheus-text.ts'
import type { ServerLogger } from '../logger.ts'
import type { Part } from './part.ts'

interface DestinationCatalogNeeds {
  readonly settings: Settings
  readonly clock: Clock
  readonly logger: ServerLogger
}

/** The destination types of the community package. Nothing of it is loaded before one of them is used. */
export function openDestinationCatalog(needs: DestinationCatalogNeeds): Part & { readonly types: MoreTypes } {
  const { settings, clock, logger } = needs
  const catalog = new DestinationCatalog({
    clock,
    logger,
    workers: settings.destinationCatalogWorkers,
    memoryMb: settings.destinationCatalogMemoryMb,
  })
  return {
    types: catalogTypes(catalog, catalogTrouble(settings)),
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
