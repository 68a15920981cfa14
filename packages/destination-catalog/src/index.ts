export type { UnitOutcome } from './classify.ts'
export type { CatalogDefinition } from './definitions/catalog-definition.ts'
export {
  type CatalogRun,
  DestinationCatalog,
  type DestinationCatalogOptions,
  type DryRun,
  type SendCaptured,
} from './destination-catalog.ts'
export type { HostAnswer } from './host/guest-runs.ts'
export type { Mapping } from './mappings/mappings.ts'
export type { CatalogRequest } from './requests/rewrites.ts'
