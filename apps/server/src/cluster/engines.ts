import { readFileSync } from 'node:fs'
import { controlSchema } from '@millrace/control-plane/postgres'
import { deliverySchema, PostgresStoredDuplicates } from '@millrace/delivery/postgres'
import { type KafkaAddress, KafkaEventLog } from '@millrace/log/kafka'
import { OwnedMarks } from '@millrace/pipeline/cluster'
import {
  checkSchema,
  leaseSchema,
  type MigratedPart,
  migrate,
  migrationPool,
  PostgresNotifications,
  PostgresPool,
} from '@millrace/postgres'
import { catalogSchema } from '@millrace/schema-catalog/cluster'
import type { Clock } from '@millrace/std'
import type { Settings } from '../config/settings.ts'
import type { ServerLogger } from '../logger.ts'
import { VERSION } from '../version.ts'
import { sharedSchema } from './shared/shared-schema.ts'

/** Every group of tables. */
export const SCHEMA_PARTS = [controlSchema, deliverySchema, catalogSchema, leaseSchema, sharedSchema]
/** Of the pool, for the configuration and what only one process does; the rest is for deliveries. */
const CONTROL_CONNECTIONS = 2
/** Beside the body of a request: its headers, and the hashes of up to 65,535 events. */
export const RECORD_ROOM_BYTES = 1024 * 1024

/** The settings with those that make a cluster. */
export type ClusterSettings = Settings & {
  readonly kafkaBrokers: readonly string[]
  readonly postgresUrl: string
  readonly secretKey: Uint8Array
  readonly ownerToken: string
  readonly serviceAdminPassword: string
  readonly backlogMaxBytes: number
}

/** The engines of a cluster: Kafka, and one schema of Postgres. */
export interface ClusterEngines extends AsyncDisposable {
  readonly log: KafkaEventLog
  /** Which events of the log are duplicates. */
  readonly marks: OwnedMarks
  /** For the configuration, and for what one process does alone. */
  readonly control: PostgresPool
  /** For deliveries, and for what people look at. */
  readonly delivery: PostgresPool
  readonly notifications: PostgresNotifications
}

type PostgresSettings = Pick<ClusterSettings, 'postgresUrl' | 'postgresSchema'>
type Warner = Pick<ServerLogger, 'warn'>

/** What several parts need to connect to Postgres. */
export function postgresOptions({ postgresUrl, postgresSchema }: PostgresSettings, logger: Warner) {
  return { url: postgresUrl, schema: postgresSchema, applicationName: `millrace ${VERSION}`, logger }
}

/** Brings the schema up to date. @throws SchemaTooNewError, PostgresUnavailableError */
export async function migrateSchema(settings: PostgresSettings, logger: Warner): Promise<MigratedPart[]> {
  await using pool = migrationPool(postgresOptions(settings, logger))
  // The pool must be open until it is done.
  return await migrate(pool, SCHEMA_PARTS)
}

/**
 * Opens both, brings the schema up to date unless MILLRACE_MIGRATE is off, and makes the topics where they are missing.
 *
 * @throws SchemaTooNewError, SchemaTooOldError, UnsafeTopicsError, PostgresUnavailableError, Error if no broker answers.
 */
export async function openEngines(
  settings: ClusterSettings,
  { clock, logger }: { readonly clock: Clock; readonly logger: ServerLogger },
): Promise<ClusterEngines> {
  await using opened = new AsyncDisposableStack()
  const postgres = postgresOptions(settings, logger)
  const control = opened.use(new PostgresPool({ ...postgres, connections: CONTROL_CONNECTIONS }))
  const connections = settings.postgresPool - CONTROL_CONNECTIONS
  const delivery = opened.use(new PostgresPool({ ...postgres, connections }))
  if (settings.migrates) await migrateSchema(settings, logger)
  else await checkSchema(control, SCHEMA_PARTS)
  const notifications = opened.use(new PostgresNotifications({ ...postgres, clock }))
  const marks = new OwnedMarks(new PostgresStoredDuplicates(delivery))
  const log = opened.use(
    await KafkaEventLog.open({
      kafka: kafkaAddress(settings),
      prefix: settings.kafkaPrefix,
      clock,
      partitions: settings.partitions,
      retentionMs: settings.logRetentionMs,
      maxRecordBytes: settings.maxBodyBytes + RECORD_ROOM_BYTES,
      isUnsafeAllowed: settings.isKafkaUnsafe,
      compression: settings.kafkaCompression,
      marks,
    }),
  )
  const closing = opened.move()
  return { log, marks, control, delivery, notifications, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

/** @throws if the file of MILLRACE_KAFKA_TLS cannot be read. */
export function kafkaAddress({ kafkaBrokers, kafkaTls, kafkaSasl }: ClusterSettings): KafkaAddress {
  const tls = kafkaTls === 'off' ? undefined : kafkaTls === 'on' ? {} : { ca: readFileSync(kafkaTls) }
  return {
    brokers: kafkaBrokers,
    ...(tls === undefined ? {} : { tls }),
    ...(kafkaSasl === undefined ? {} : { sasl: kafkaSasl }),
  }
}
