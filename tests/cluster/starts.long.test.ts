import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command } from '../e2e/command.ts'
import { ClusterUnderTest, healthOf, ok } from './cluster-under-test.ts'

/* Starts that Postgres or Kafka refuses. */

let cluster: ClusterUnderTest
beforeAll(async () => {
  cluster = await ClusterUnderTest.start('starts')
  await cluster.add({ MILLRACE_ROLES: 'control' })
})
afterAll(() => cluster[Symbol.asyncDispose]())

test('MILLRACE_MIGRATE=off leaves the tables to `millrace migrate`, and an unfit schema stops the start', async () => {
  await using other = TestSchema.on(cluster.schema, 'migrated')
  const postgres = { MILLRACE_POSTGRES_URL: other.url, MILLRACE_POSTGRES_SCHEMA: other.schema }
  const manual = { ...postgres, MILLRACE_KAFKA_PREFIX: other.schema, MILLRACE_MIGRATE: 'off' }
  expect(await cluster.refused(manual)).toMatch(
    /^Millrace cannot start: The part control of the Postgres schema \S+ is missing: run `npm run millrace -- migrate`, then start again/m,
  )
  const first = await command(['migrate'], postgres)
  expect([first.code, first.err]).toEqual([0, ''])
  expect(first.out).toMatch(/^The Postgres schema \S+ was brought up to date\.\n {2}control +made, at \d+\n/)
  const second = await command(['migrate'], postgres)
  expect(second.out).toMatch(/^The Postgres schema \S+ is up to date\.\n {2}control +at \d+, nothing to do\n/)
  const server = await cluster.add({ ...manual, MILLRACE_ROLES: 'control' })
  expect(await healthOf(server)).toMatchObject({ status: 200 })
  expect(await server.stop()).toBe(0)

  await using pool = other.pool()
  await pool.query(`UPDATE schema SET version = 99, usable_from = 99 WHERE part = 'control'`)
  const tooNew = /was migrated by a newer version of Millrace: its part control is at 99, usable from 99/
  expect(await cluster.refused(manual)).toMatch(tooNew)
  expect(await cluster.refused({ ...manual, MILLRACE_MIGRATE: 'auto' })).toMatch(tooNew)
  const third = await command(['migrate'], postgres)
  expect([third.code, third.err]).toEqual([1, expect.stringMatching(tooNew)])
})

test('a start that cannot work says why in one line', async () => {
  const topics = cluster.refused({ MILLRACE_KAFKA_UNSAFE: 'false' })
  expect(await topics).toMatch(
    /^Millrace cannot start: replication\.factor of topic \S+ is 1, at least 3 is needed.* With MILLRACE_KAFKA_UNSAFE=true the start goes on/m,
  )
  const key = cluster.refused({ MILLRACE_SECRET_KEY: '1e'.repeat(32) })
  expect(await key).toMatch(/^Millrace cannot start: The secret key does not match the Postgres schema/m)
  const control = await cluster.add({ MILLRACE_ROLES: 'control' })
  for (const name of ['A', 'B']) await ok(control, 'POST', '/sources', { name, type: 'HTTP' })
  const fewer = cluster.refused({ MILLRACE_KAFKA_PREFIX: `${cluster.schema.schema}-new`, MILLRACE_PARTITIONS: '1' })
  expect(await fewer).toMatch(
    /^Millrace cannot start: topic \S+-new\.live has 1 partitions, but source \S+ lies in partition 1\. Check MILLRACE_KAFKA_PREFIX/m,
  )
  const database = cluster.refused({ MILLRACE_POSTGRES_URL: 'postgres://postgres@127.0.0.1:1/postgres' })
  expect(await database).toMatch(/^Millrace cannot start: Postgres does not answer: /m)
})
