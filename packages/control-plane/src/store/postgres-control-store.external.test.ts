import {
  migrate,
  PostgresNotifications,
  type PostgresPool,
  PostgresUnavailableError,
  SchemaTooNewError,
} from '@millrace/postgres'
import { BreakingProxy } from '@millrace/postgres/testing/breaking-proxy'
import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { systemClock } from '@millrace/std'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SecretBox } from '../workspace/secret-box.ts'
import { exampleDestination } from './conformance/example-rows.ts'
import type { StoreDatabase } from './conformance/store-database.ts'
import { describeControlStore } from './conformance.ts'
import type { ControlStore } from './control-store.ts'
import { controlSchema, postgresControlStore } from './postgres-control-store.ts'
import { MIGRATIONS } from './tables.ts'

const KEYS = { right: Buffer.alloc(32, 1), wrong: Buffer.alloc(32, 2) }

describeControlStore('Postgres', () => new PostgresDatabase())

let schema: TestSchema
let pool: PostgresPool
let notifications: PostgresNotifications

beforeAll(async () => {
  schema = await TestSchema.open('control')
  pool = schema.pool()
  notifications = new PostgresNotifications({ ...schema, applicationName: 'test', clock: systemClock })
  await migrate(pool, [controlSchema])
})

afterAll(async () => {
  await notifications[Symbol.asyncDispose]()
  await pool[Symbol.asyncDispose]()
  await schema[Symbol.asyncDispose]()
})

test('processes that start at once on an empty schema make one workspace', async () => {
  const stores = await Promise.all(Array.from({ length: 6 }, () => openStore(pool, notifications)))
  const states = await Promise.all(stores.map((store) => store.load()))
  expect(new Set(states.map(({ workspaceId }) => workspaceId)).size).toBe(1)
  expect(await pool.query('SELECT id FROM workspace')).toHaveLength(1)
})

test('of two commits on one version exactly one is stored, and the other process gets a hint', async () => {
  const [one, other] = [await openStore(pool, notifications), await openStore(pool, notifications)]
  let hints = 0
  other.onHint(() => hints++)
  const { version } = await one.load()
  const commits = await Promise.allSettled([one.commit(version, [], []), other.commit(version, [], [])])
  expect(commits.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(await one.version()).toEqual({ ...version, commits: version.commits + 1 })
  await expect.poll(() => hints).toBeGreaterThan(0)
})

test.each(['before', 'after'] as const)(
  'a change whose connection breaks %s its commit is known to be stored, or not',
  async (at) => {
    await using proxy = await BreakingProxy.open(schema.url)
    await using throughProxy = schema.pool({ url: proxy.url })
    const store = await openStore(throughProxy, notifications)
    const { version } = await store.load()
    proxy.next = { message: 'COMMIT', at }
    const commit = store.commit(version, [], [])
    if (at === 'before') await expect(commit).rejects.toThrow(PostgresUnavailableError)
    else await expect(commit).resolves.toMatchObject({ commits: version.commits + 1 })
    expect(proxy.next).toBe(undefined)
    expect((await store.load()).version.commits).toBe(version.commits + (at === 'after' ? 1 : 0))
  },
)

test('the state is read whole while another process commits', async () => {
  const store = await openStore(pool, notifications)
  const [writer, reader] = [await openStore(pool, notifications), store]
  let { version } = await writer.load()
  const destination = { kind: 'destination', id: 'd-1' } as const
  let isDone = false
  const reads = (async () => {
    while (!isDone) {
      const { version, destinations } = await reader.load()
      for (const { revision } of destinations) expect(revision).toBe(version.revision)
    }
  })()
  for (let n = 0; n < 50; n++) {
    const value = { ...exampleDestination, revision: version.revision + 1 }
    version = await writer.commit(version, [{ ...destination, value }], [])
  }
  isDone = true
  await reads
})

test('tables from every earlier release are brought up to date', async () => {
  const names = Object.keys(MIGRATIONS)
  for (let known = 1; known <= names.length; known++) {
    await using older = await TestSchema.open('control_older')
    await using olderPool = older.pool()
    await migrate(olderPool, [{ ...controlSchema, steps: controlSchema.steps.slice(0, known) }])
    await migrate(olderPool, [controlSchema])
    expect((await (await openStore(olderPool, notifications)).load()).sources).toEqual([])
  }
})

test('a release that would send what rules of connections deny does not start', async () => {
  const steps = controlSchema.steps.slice(0, Object.keys(MIGRATIONS).indexOf('0007-connection-rules'))
  await expect(migrate(pool, [{ ...controlSchema, steps }])).rejects.toThrow(SchemaTooNewError)
})

test('text is compared byte by byte, whatever the language of the database', async () => {
  const columns = await pool.query(
    `SELECT table_name, column_name FROM information_schema.columns
     WHERE table_schema = $1 AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C' AND table_name <> 'schema'`,
    [schema.schema],
  )
  expect(columns).toEqual([])
})

test('no secret stands in any row', async () => {
  const store = await openStore(pool, notifications)
  const { version } = await store.load()
  await store.commit(version, [{ kind: 'destination', id: 'd-9', value: { ...exampleDestination, key: 'd-9' } }], [])
  const rows = await pool.query('SELECT * FROM destination')
  expect(rows.length).toBeGreaterThan(0)
  expect(JSON.stringify(rows)).not.toContain('canary')
})

function openStore(
  on: PostgresPool,
  hints: PostgresNotifications,
  key: keyof typeof KEYS = 'right',
): Promise<ControlStore> {
  const random = (count: number) => crypto.getRandomValues(new Uint8Array(count))
  const newWorkspace = { id: `w-${Math.random()}`, createdAt: 1 }
  return postgresControlStore(on, hints)(new SecretBox(KEYS[key], random), newWorkspace)
}

/** A schema of its own for each test. */
class PostgresDatabase implements StoreDatabase {
  readonly #opened = (async () => {
    const schema = await TestSchema.open('control_store')
    const pool = schema.pool()
    await migrate(pool, [controlSchema])
    return { schema, pool }
  })()

  async open(key: keyof typeof KEYS = 'right') {
    return openStore((await this.#opened).pool, notifications, key)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { schema, pool } = await this.#opened
    await pool[Symbol.asyncDispose]()
    await schema[Symbol.asyncDispose]()
  }
}
