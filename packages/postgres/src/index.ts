export {
  checkSchema,
  type MigrationStep,
  migrate,
  type SchemaPart,
  type SchemaState,
  SchemaTooNewError,
  SchemaTooOldError,
  schemaStates,
} from './migrations.ts'
export { PostgresConnection, PostgresUnavailableError, type Queries } from './postgres-connection.ts'
export { DEFAULT_TIMEOUTS, type PostgresOptions, PostgresPool, type PostgresTimeouts } from './postgres-pool.ts'
