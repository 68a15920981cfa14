import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  checkSchema,
  type MigrationStep,
  migrate,
  migrationPool,
  SchemaTooNewError,
  SchemaTooOldError,
  schemaStates,
} from './migrations.ts'
import type { PostgresPool } from './postgres-pool.ts'
import { TestSchema } from './testing/test-schema.ts'

let schema: TestSchema
let pool: PostgresPool

beforeAll(async () => {
  schema = await TestSchema.open('migrations')
  pool = schema.pool()
})

beforeEach(() => schema[Symbol.asyncDispose]())

afterAll(async () => {
  await schema[Symbol.asyncDispose]()
  await pool[Symbol.asyncDispose]()
})

const first: MigrationStep = { name: 'seats', up: (queries) => queries.run('CREATE TABLE seat (number bigint)') }
const second: MigrationStep = { name: 'rows', up: (queries) => queries.run('ALTER TABLE seat ADD COLUMN line text') }
const hall = (...steps: MigrationStep[]) => [{ name: 'hall', steps }]

test('each step runs once, however many processes start at once', async () => {
  const runs: number[] = []
  const counted: MigrationStep = {
    name: 'counted',
    up(queries) {
      runs.push(1)
      return first.up(queries)
    },
  }
  const pools = Array.from({ length: 6 }, () => schema.pool())
  await Promise.all(pools.map((each) => migrate(each, hall(counted, second))))
  await migrate(pool, hall(counted, second))
  expect(runs).toEqual([1])
  expect(await schemaStates(pool)).toEqual([{ part: 'hall', version: 2, usableFrom: 0 }])
  for (const each of pools) await each[Symbol.asyncDispose]()
})

test('a failed step leaves the schema as it was', async () => {
  await migrate(pool, hall(first))
  const failing: MigrationStep = { name: 'failing', up: () => Promise.reject(new Error('no more disk')) }
  await expect(migrate(pool, hall(first, second, failing))).rejects.toThrow('no more disk')
  expect(await schemaStates(pool)).toEqual([{ part: 'hall', version: 1, usableFrom: 0 }])
  await migrate(pool, hall(first, second))
  expect(await pool.query('SELECT number, line FROM seat')).toEqual([])
})

test('an older release starts beside a newer one until a step says otherwise', async () => {
  await migrate(pool, hall(first, second))
  await migrate(pool, hall(first))
  await checkSchema(pool, hall(first))
  const third: MigrationStep = {
    name: 'no numbers',
    usableFrom: 2,
    up: (each) => each.run('ALTER TABLE seat DROP number'),
  }
  await migrate(pool, hall(first, second, third))
  await expect(migrate(pool, hall(first))).rejects.toThrow(SchemaTooNewError)
  await expect(checkSchema(pool, hall(first))).rejects.toThrow(/hall is at 3, usable from 2, and this program knows 1/)
  await migrate(pool, hall(first, second))
})

test('a program that may not migrate says what to do, and changes nothing', async () => {
  await expect(checkSchema(pool, hall(first))).rejects.toThrow(SchemaTooOldError)
  await expect(checkSchema(pool, hall(first))).rejects.toThrow(
    /The part hall of .* is missing: run `npm run millrace -- migrate`/,
  )
  await migrate(pool, hall(first))
  await expect(checkSchema(pool, hall(first, second))).rejects.toThrow(
    /hall of .* is at 1, and this program needs 2: run `npm run millrace -- migrate`/,
  )
  expect(await schemaStates(pool)).toEqual([{ part: 'hall', version: 1, usableFrom: 0 }])
})

test('a migration says which steps it ran', async () => {
  expect(await migrate(pool, hall(first))).toEqual([{ part: 'hall', from: 0, version: 1 }])
  expect(await migrate(pool, hall(first, second))).toEqual([{ part: 'hall', from: 1, version: 2 }])
  expect(await migrate(pool, hall(first, second))).toEqual([{ part: 'hall', from: 2, version: 2 }])
  expect(await migrate(pool, hall(first))).toEqual([{ part: 'hall', from: 2, version: 2 }])
})

test('a step may take longer than any other statement', async () => {
  const slow: MigrationStep = { name: 'slow', up: (queries) => queries.rows('SELECT pg_sleep(0.5)') }
  const limits = { timeouts: { statementMs: 100, answerMs: 200 } }
  await using short = schema.pool(limits)
  await expect(migrate(short, hall(slow))).rejects.toThrow('Postgres does not answer')
  const { url, schema: name } = schema
  await using long = migrationPool({ url, schema: name, applicationName: name, logger: { warn: () => {} }, ...limits })
  expect(await migrate(long, hall(slow))).toEqual([{ part: 'hall', from: 0, version: 1 }])
})

test('a schema that exists needs no right to create schemas', async () => {
  await using own = await TestSchema.open('owned')
  await using admin = own.pool()
  const role = own.schema
  await admin.query(`CREATE ROLE "${role}" LOGIN`)
  await admin.query(`CREATE SCHEMA "${own.schema}" AUTHORIZATION "${role}"`)
  const url = new URL(own.url)
  url.username = role
  await using pool = own.pool({ url: url.href })
  expect(await migrate(pool, hall(first))).toEqual([{ part: 'hall', from: 0, version: 1 }])
})
