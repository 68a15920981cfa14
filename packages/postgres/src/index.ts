export { assertHeld, LeaseLostError, leaseSchema, lostLeases } from './leases/lease-table.ts'
export type { HeldLease, Lease, LeasedWork, LeaseKey, Leases, MemberDescription } from './leases/leases.ts'
export { Membership, type MembershipOptions } from './leases/membership.ts'
export { PostgresLeases, type PostgresLeasesOptions } from './leases/postgres-leases.ts'
export { SingleTask, type SingleTaskOptions } from './leases/single-task.ts'
export { liveMembers, type StoredLease, type StoredMember, storedLeases } from './leases/stored-leases.ts'
export {
  checkSchema,
  type MigratedPart,
  type MigrationStep,
  migrate,
  migrationPool,
  type SchemaPart,
  type SchemaState,
  SchemaTooNewError,
  SchemaTooOldError,
  schemaStates,
} from './migrations.ts'
export { PostgresConnection, PostgresUnavailableError, type Queries } from './postgres-connection.ts'
export { notificationOf, PostgresNotifications } from './postgres-notifications.ts'
export { DEFAULT_TIMEOUTS, type PostgresOptions, PostgresPool, type PostgresTimeouts } from './postgres-pool.ts'
export type { ProcessClock } from './process-clock.ts'
