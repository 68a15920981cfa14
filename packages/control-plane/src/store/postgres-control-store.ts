import {
  notificationOf,
  type PostgresNotifications,
  type PostgresPool,
  PostgresUnavailableError,
  type SchemaPart,
} from '@millrace/postgres'
import { sql } from 'kysely'
import { CommitInDoubtError, type ControlStoreOpener } from './control-store.ts'
import { type ControlDatabase, KyselyControlStore } from './kysely-control-store.ts'
import { kyselyIn, kyselyOn } from './postgres-dialect.ts'
import { MIGRATIONS, type Tables } from './tables.ts'

/** The tables of the control store: the same steps as in SQLite. */
export const controlSchema: SchemaPart = {
  name: 'control',
  steps: Object.entries(MIGRATIONS).map(([name, { up, ...rest }]) => ({
    ...rest,
    name,
    up: (queries) => up(kyselyIn<unknown>(queries)),
  })),
}

/**
 * The control store in a Postgres schema that holds `controlSchema`. Any number of processes have it open.
 *
 * @param pool belongs to the caller, as do `notifications`; the store closes neither.
 * @returns throws WrongSecretKeyError or PostgresUnavailableError.
 * @see contracts/cluster.md §9 [K18]
 */
export function postgresControlStore(pool: PostgresPool, notifications: Hints): ControlStoreOpener {
  const database = sharedDatabase(pool, notifications)
  return (secrets, newWorkspace) => KyselyControlStore.open(database, secrets, newWorkspace)
}

/** A source as far as it determines partitions. */
export interface PlacedSource {
  readonly name: string
  readonly partition: number
  readonly orderShards: number
}

/** Where the sources lie, for people who look at a cluster from outside. */
export async function placedSources(pool: PostgresPool): Promise<PlacedSource[]> {
  const rows = await pool.query<{ partition: number; document: string }>('SELECT partition, document FROM source')
  return rows.map(({ partition, document }) => {
    const { name, config } = JSON.parse(document) as { name: string; config?: { orderShards?: number } }
    return { name, partition, orderShards: config?.orderShards ?? 1 }
  })
}

/** Names of the destinations, by id, for the same people. */
export async function destinationNames(pool: PostgresPool): Promise<ReadonlyMap<string, string>> {
  const rows = await pool.query<{ id: string; document: string }>('SELECT id, document FROM destination')
  return new Map(rows.map(({ id, document }) => [id, (JSON.parse(document) as { name: string }).name]))
}

type Hints = Pick<PostgresNotifications, 'on'>

const TOPIC = 'control'

function sharedDatabase(pool: PostgresPool, notifications: Hints): ControlDatabase {
  const { schema } = pool
  const db = kyselyOn<Tables>(() => pool.connect())
  return {
    db,
    where: `the Postgres schema ${schema}`,
    isShared: true,
    reading: (work) => db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work),
    writing: (work) =>
      pool
        .write((queries) => work(kyselyIn(queries)))
        .catch((error: unknown) => {
          throw error instanceof PostgresUnavailableError && error.isInDoubt ? new CommitInDoubtError(error) : error
        }),
    creating: (work) =>
      pool.write(async (queries) => {
        await queries.run('LOCK TABLE workspace IN SHARE ROW EXCLUSIVE MODE')
        return work(kyselyIn(queries))
      }),
    announce: async (transaction) => {
      const { channel, payload } = notificationOf(schema, TOPIC)
      await sql`SELECT pg_notify(${channel}, ${payload})`.execute(transaction)
    },
    onHint: (listener) => notifications.on(TOPIC, listener),
    close: async () => {},
  }
}
