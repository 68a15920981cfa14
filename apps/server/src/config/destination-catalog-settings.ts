import { number, onOff } from './setting.ts'

/** What the destination catalog may take, by its member of `Settings`. @see contracts/destination-catalog.md §4.1 */
export const DESTINATION_CATALOG_SETTINGS = {
  isDestinationCatalogOn: onOff(
    'MILLRACE_DESTINATION_CATALOG',
    'on',
    'Whether the destination types of the community catalog are offered.',
  ),
  destinationCatalogWorkers: number('MILLRACE_DESTINATION_CATALOG_WORKERS', 1, {
    purpose: 'Number of worker threads that run catalog destinations; they start when one is used.',
    from: 1,
    to: 8,
  }),
  destinationCatalogMemoryMb: number('MILLRACE_DESTINATION_CATALOG_MEMORY_MB', 256, {
    purpose: 'Maximum memory of a worker thread of the destination catalog, in MB.',
    from: 64,
    to: 4_096,
  }),
}
