export { PostgresLimits, type PostgresLimitsOptions } from '../../limits/postgres/postgres-limits.ts'
export {
  type ConfigurationSpans,
  configurationSpans,
  type SpansWrite,
  writeConfigurationSpans,
} from './configuration-spans.ts'
export type { DecidedRecord, RecentDuplicates } from './outcomes/recent-duplicates.ts'
export type { RecentOutcome, RecentOutcomes } from './outcomes/recent-outcomes.ts'
export { PostgresDeliveryStore, type PostgresDeliveryStoreOptions } from './postgres-delivery-store.ts'
export { PostgresStoredDuplicates } from './postgres-duplicates.ts'
export { deliverySchema } from './schema.ts'
export { type StoredPosition, storedPositions } from './stored-positions.ts'
