export type { BatchEnd } from './batch-outcome.ts'
export type {
  AskedField,
  CatalogRun,
  DestinationCatalogOptions,
  DryRun,
  FieldOptionsEnd,
  SendCaptured,
} from './catalog-run.ts'
export type { UnitOutcome } from './classify.ts'
export type { CatalogDefinition } from './definitions/catalog-definition.ts'
export { DestinationCatalog } from './destination-catalog.ts'
export type { HostAnswer } from './host/guest-runs.ts'
export { batchKey } from './mappings/batch-key.ts'
export type { Mapping } from './mappings/mappings.ts'
export { arePackagesInstalled } from './package-modules.ts'
export { capturedObject } from './requests/captured-object.ts'
export type { CatalogRequest } from './requests/rewrites.ts'
