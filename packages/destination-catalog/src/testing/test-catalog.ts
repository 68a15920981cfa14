import { systemClock } from '@millrace/std'
import type { DestinationCatalogOptions } from '../catalog-run.ts'
import { DestinationCatalog } from '../destination-catalog.ts'

const nothing = () => {}

/** A catalog as the server has it, with a log that nobody reads. */
export function testCatalog(more: Partial<DestinationCatalogOptions> = {}): DestinationCatalog {
  return new DestinationCatalog({ clock: systemClock, logger: { debug: nothing, warn: nothing }, ...more })
}

export const TEST_RUN = { destinationId: 'd-1', userAgent: 'Millrace/0.0.0', isUserAgentAdded: false }
