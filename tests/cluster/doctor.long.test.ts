import { deleteRecords } from '@millrace/log/testing/delete-records'
import { Sink } from '@millrace/pipeline/testing/sink'
import { systemClock } from '@millrace/std'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command } from '../e2e/command.ts'
import type { Environment, ServerProcess } from '../e2e/server-process.ts'
import { ClusterUnderTest, connected, event, LEASE_MS, ok, send } from './cluster-under-test.ts'

/* `millrace doctor` with the settings of a process: what it says of the whole installation. */

let cluster: ClusterUnderTest
let front: ServerProcess
let pipeline: ServerProcess
let sink: Sink
let writeKey: string
beforeAll(async () => {
  cluster = await ClusterUnderTest.start('doctor')
  front = await cluster.add({ MILLRACE_ROLES: 'gateway,control' })
  pipeline = await cluster.add({ MILLRACE_ROLES: 'pipeline' })
  sink = await Sink.start()
  const { source } = await connected(front, sink.url)
  writeKey = source.writeKey
}, 60_000)
afterAll(async () => {
  await cluster[Symbol.asyncDispose]()
  sink.close()
})

/** Verdict and text by subject; several of one subject are joined. */
async function examine(more: Environment = {}): Promise<Record<string, string>> {
  const env = { ...cluster.settings, MILLRACE_DATA_DIR: '/tmp', ...more }
  const { code, out } = await command(['doctor', '--json'], env)
  const { findings } = JSON.parse(out) as { findings: { verdict: string; what: string; text: string }[] }
  expect(code).toBe(findings.some(({ verdict }) => verdict === 'fail') ? 1 : 0)
  const found = Map.groupBy(findings, ({ what }) => what)
  return Object.fromEntries(
    [...found].map(([what, of]) => [what, of.map(({ verdict, text }) => `${verdict} ${text}`).join(' | ')]),
  )
}

test('a healthy installation: brokers, Postgres, migrations, members, owners of shards and positions', async () => {
  await expect.poll(() => send(front, writeKey, [event('first')])).toBe(200)
  await expect.poll(() => sink.messageIds).toContain('first')
  const second = await cluster.add({ MILLRACE_ROLES: 'pipeline' })
  await expect.poll(async () => (await examine())['positions']).toMatch(/^ok every reader is at the end/)
  const found = await examine()
  const address = ({ url }: ServerProcess) => url.replace('http://', '')
  expect(found).toMatchObject({
    kafka: 'ok 1 broker answers',
    postgres: expect.stringMatching(/^ok version 1\d.* answered in \d+ ms; \d+ of 200 connections are used$/),
    migrations: expect.stringMatching(/^ok schema doctor_\w+: control \d+, .*shared \d+/),
    shards: expect.stringMatching(/^ok 1 with sources, each with an owner: 1 at /),
    tasks: expect.stringMatching(/^ok .*housekeeping.*jobs: each has a process$/),
  })
  for (const each of [pipeline, second]) expect(found['members']).toContain(`${address(each)} (pipeline)`)
  expect(found['members']).toMatch(new RegExp(`^ok .*${address(front)} \\((gateway\\+control|control\\+gateway)\\)`))
  // One broker keeps one copy, and the settings accept that.
  expect(found['topics']).toMatch(/^warn replication\.factor of topic \S+ is 1, at least 3 is needed/)
  expect((await examine({ MILLRACE_KAFKA_UNSAFE: 'false' }))['topics']).toMatch(/^fail replication\.factor/)
  expect(Object.values(found).filter((text) => text.startsWith('fail'))).toEqual([])
  expect(await second.stop()).toBe(0)
  expect((await examine())['members']).toMatch(/^warn .*: one pipeline lives/)
})

test('settings that the topics do not have are named', async () => {
  const { topics } = await examine({ MILLRACE_LOG_RETENTION_HOURS: '24', MILLRACE_MAX_BODY_KB: '65536' })
  expect(topics).toContain('warn MILLRACE_LOG_RETENTION_HOURS is 24 h, but the topics keep records for 168 h')
  expect(topics).toMatch(/fail max\.message\.bytes of the topics is .* too small for MILLRACE_MAX_BODY_KB/)
})

test('two versions side by side are named', async () => {
  await using pool = cluster.schema.pool()
  await pool.query(
    `INSERT INTO member VALUES ('old', '{gateway}', 'old-host:8080', '0.0.9', now() + interval '1 minute')`,
  )
  expect((await examine())['versions']).toMatch(/1 of 0\.0\.9.*: an upgrade is under way, or was not finished$/)
  await pool.query(`DELETE FROM member WHERE id = 'old'`)
})

test('without a pipeline its shards have no owner; records that were deleted meanwhile are named', async () => {
  const { partition } = (await ok(front, 'GET', '/events/first')).events.map(({ position }: { position: string }) => {
    return { partition: Number(position.split('-')[0]) }
  })[0]
  pipeline.signal('SIGKILL')
  await pipeline.exited
  await expect
    .poll(async () => (await examine())['members'], { timeout: 3 * LEASE_MS })
    .toMatch(/^fail no pipeline lives/)
  const found = await examine()
  expect(found['shards']).toMatch(/^fail \d of 1 have no owner, the longest for [\d.]+ m?s: their events wait/)
  expect(found['tasks']).toMatch(/^warn .*housekeeping.*: no process does it now$/)

  for (const id of ['a', 'b', 'c']) expect(await send(front, writeKey, [event(id)])).toBe(200)
  expect((await examine())['positions']).toMatch(
    /^ok all lie within the topics; the farthest, destination \S.* \(\w+\) in partition \d, is 3 records behind/,
  )
  const topic = `${cluster.schema.schema}.live`
  await deleteRecords({ brokers: cluster.kafka.addresses }, systemClock, { topic, index: partition, before: 3 })
  expect((await examine())['positions']).toMatch(
    /^fail records destination \S.* \(\w+\) in partition \d: 1 to 2.* were deleted before they were read/,
  )

  await using pool = cluster.schema.pool()
  await pool.query('UPDATE position SET "offset" = 1000 WHERE partition = $1', [partition])
  expect((await examine())['positions']).toMatch(/^fail readers are beyond the end .*: 1000, and its end is 4/)
})

test('what does not answer is named with its setting; the rest is examined nonetheless', async () => {
  const noPostgres = await examine({ MILLRACE_POSTGRES_URL: 'postgres://postgres@127.0.0.1:1/postgres' })
  expect(noPostgres['postgres']).toMatch(
    /^fail Postgres does not answer: .*: check MILLRACE_POSTGRES_URL and the network$/,
  )
  expect(noPostgres['kafka']).toBe('ok 1 broker answers')
  const noKafka = await examine({ MILLRACE_KAFKA_BROKERS: '127.0.0.1:1' })
  expect(noKafka['kafka']).toMatch(
    /^fail 127\.0\.0\.1:1: no broker answers: .*: check MILLRACE_KAFKA_BROKERS, _TLS and _SASL/,
  )
  expect(noKafka['migrations']).toMatch(/^ok /)
})

test('migrations: none yet, older and newer ones', async () => {
  const empty = { MILLRACE_POSTGRES_SCHEMA: 'doctor_none' }
  expect((await examine(empty))['migrations']).toBe(
    'ok schema doctor_none has no tables yet: the first start makes them',
  )
  expect((await examine({ ...empty, MILLRACE_MIGRATE: 'off' }))['migrations']).toMatch(
    /^warn .*: npm run millrace -- migrate makes them$/,
  )
  await using pool = cluster.schema.pool()
  const [{ version }] = (await pool.query<{ version: number }>(
    `SELECT version FROM schema WHERE part = 'control'`,
  )) as [{ version: number }]
  const set = (to: number, usable: number) =>
    pool.query(`UPDATE schema SET version = $1, usable_from = $2 WHERE part = 'control'`, [to, usable])
  await set(version - 1, 0)
  expect((await examine())['migrations']).toMatch(/^warn control is at \d+, and this program needs \d+: the next start/)
  await set(version + 1, 0)
  expect((await examine())['migrations']).toContain(
    `control ${version + 1} (a newer version has run; this one knows ${version})`,
  )
  await set(version + 1, version + 1)
  expect((await examine())['migrations']).toMatch(/^fail control is at \d+, usable from \d+, .*: use a newer version$/)
  await set(version, 0)
})
