import { Sink } from '@millrace/pipeline/testing/sink'
import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command } from '../e2e/command.ts'
import type { ServerProcess } from '../e2e/server-process.ts'
import { api, ClusterUnderTest, connected, event, healthOf, metricsOf, ok, send } from './cluster-under-test.ts'

/* One process for each role. */

let cluster: ClusterUnderTest
let gateway: ServerProcess
let pipeline: ServerProcess
let control: ServerProcess
let catalog: ServerProcess
let sink: Sink
beforeAll(async () => {
  cluster = await ClusterUnderTest.start('roles')
  control = await cluster.add({ MILLRACE_ROLES: 'control' })
  gateway = await cluster.add({ MILLRACE_ROLES: 'gateway' })
  pipeline = await cluster.add({ MILLRACE_ROLES: 'pipeline' })
  catalog = await cluster.add({ MILLRACE_ROLES: 'catalog' })
  sink = await Sink.start()
})
afterAll(async () => {
  await cluster[Symbol.asyncDispose]()
  sink.close()
})

test('an event goes through the gateway and the pipeline, and the control process shows it', async () => {
  const { source, destination } = await connected(control, sink.url)
  await expect.poll(() => send(gateway, source.writeKey, [event('m-1')])).toBe(200)
  await expect.poll(() => sink.messageIds).toContain('m-1')
  const outcome = async () => (await api(control, 'GET', '/events/m-1')).body.events?.[0]?.destinations[0]?.outcome
  await expect.poll(outcome).toBe('delivered')
  const state = async () => (await api(control, 'GET', `/destinations/${destination.id}/delivery`)).body
  await expect.poll(async () => (await state()).delivered24h).toBeGreaterThanOrEqual(1)
})

test('a path of another role answers 404', async () => {
  const headers = { authorization: `Bearer ${cluster.settings['MILLRACE_OWNER_TOKEN']}` }
  const status = async ({ url }: ServerProcess, method: string, path: string) => {
    return (await fetch(`${url}${path}`, { method, headers, ...(method === 'POST' ? { body: '{}' } : {}) })).status
  }
  const ofControl = [
    ['GET', '/v2/sources'],
    ['GET', '/v2/events'],
    ['GET', '/openapi.json'],
    ['GET', '/schemas/event-models'],
    ['GET', '/destination-definitions'],
  ] as const
  for (const [method, path] of ofControl) {
    expect([path, await status(gateway, method, path)]).toEqual([path, 404])
    expect([path, await status(pipeline, method, path)]).toEqual([path, 404])
    expect([path, await status(catalog, method, path)]).toEqual([path, 404])
  }
  for (const path of ['/v1/track', '/v1/batch', '/v1/backfill']) {
    expect([path, await status(control, 'POST', path)]).toEqual([path, 404])
    expect([path, await status(pipeline, 'POST', path)]).toEqual([path, 404])
  }
  expect(await status(control, 'GET', '/v2/sources')).toBe(200)
})

test('every role answers /health, /ready, /version and /metrics, with the checks of its roles', async () => {
  const checks = {
    gateway: ['config', 'log', 'topics'],
    pipeline: ['brokers', 'config', 'delivery', 'readers', 'retention'],
    catalog: ['catalog', 'config'],
    control: ['backlog', 'config', 'database', 'readers', 'schemas'],
  }
  for (const [role, server] of Object.entries({ gateway, pipeline, catalog, control })) {
    const health = await fetch(`${server.url}/health`)
    const body = (await health.json()) as { appType: string; checks: Record<string, string> }
    expect([health.status, body.appType, Object.keys(body.checks).sort()]).toEqual([
      200,
      role,
      checks[role as keyof typeof checks],
    ])
    for (const path of ['/ready', '/version', '/metrics'])
      expect((await fetch(`${server.url}${path}`)).status).toBe(200)
  }
})

test('each role shows its own metrics; only control shows what waits in the whole installation', async () => {
  const silent = await Sink.start(503)
  const { source, destination } = await connected(control, silent.url, 'Silent')
  await expect.poll(() => send(gateway, source.writeKey, [event('stuck')])).toBe(200)
  const of = (name: string) => `${name}{destination_id="${destination.id}"}`
  const shown = async (server: ServerProcess, name: string) => (await metricsOf(server)).get(name)
  await expect.poll(() => shown(control, of('millrace_delivery_oldest_pending_seconds'))).toBeGreaterThan(0)
  const ofInstallation = /^millrace_(delivery_pending|dead_letters|backlog_bytes|delivery_oldest_pending_seconds)/
  for (const server of [gateway, pipeline]) {
    expect([...(await metricsOf(server)).keys()].filter((name) => ofInstallation.test(name))).toEqual([])
  }
  // One shard is behind: that of the source whose destination does not answer.
  const lags = async () => {
    const samples = [...(await metricsOf(pipeline))].filter(([name]) => name.startsWith('millrace_shard_lag_seconds{'))
    return samples.map(([, seconds]) => seconds).toSorted((a, b) => a - b)
  }
  await expect.poll(async () => (await lags()).at(-1), { timeout: 10_000 }).toBeGreaterThan(2)
  expect(await lags()).toHaveLength(2)
  expect((await lags())[0]).toBe(0)
  expect(await shown(pipeline, 'millrace_flush_seconds_count')).toBeGreaterThan(0)
  for (const server of [gateway, pipeline, control]) {
    expect(await shown(server, 'millrace_snapshot_age_seconds')).toBeLessThan(5)
  }
  silent.answer = () => 200
  await expect.poll(async () => (await lags()).at(-1), { timeout: 60_000 }).toBe(0)
  silent.close()
})

test('the rate limit of a source is divided by the live gateways, and the headers tell the whole', async () => {
  const { source } = await ok(control, 'POST', '/sources', {
    ...{ name: 'Limited', type: 'HTTP', config: { rateLimitEventsPerMinute: 60 } },
  })
  const track = async ({ url }: ServerProcess, events: number) => {
    const { status, headers } = await fetch(`${url}/v1/batch`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${source.writeKey}:`).toString('base64')}` },
      body: JSON.stringify({ batch: Array.from({ length: events }, (_, i) => event(`limited-${i}`)) }),
    })
    return [status, headers.get('ratelimit-limit'), Number(headers.get('ratelimit-remaining'))]
  }
  const second = await cluster.add({ MILLRACE_ROLES: 'gateway' })
  await expect.poll(() => track(gateway, 1)).toMatchObject([200, '60', expect.any(Number)])
  // The first one hears of the second within two seconds; by then its allowance is full.
  await expect.poll(() => track(second, 1)).toEqual([200, '60', 58])
  await expect.poll(async () => (await track(gateway, 1))[2]! as number, { interval: 1_000 }).toBeLessThanOrEqual(58)
  await expect.poll(async () => (await track(gateway, 31))[0], { interval: 100 }).toBe(429)
  expect(await second.stop()).toBe(0)
  await expect.poll(async () => (await track(gateway, 31))[0], { timeout: 60_000, interval: 1_000 }).toBe(200)
})

test('MILLRACE_MIGRATE=off leaves the tables to `millrace migrate`, and an unfit schema stops the start', async () => {
  await using other = TestSchema.on(cluster.schema, 'migrated')
  const postgres = { MILLRACE_POSTGRES_URL: other.url, MILLRACE_POSTGRES_SCHEMA: other.schema }
  const manual = { ...postgres, MILLRACE_KAFKA_PREFIX: other.schema, MILLRACE_MIGRATE: 'off' }
  expect(await cluster.refused(manual)).toMatch(
    /^Millrace cannot start: The part control of the Postgres schema \S+ is missing: run `millrace migrate`, then start again/m,
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
  const database = cluster.refused({ MILLRACE_POSTGRES_URL: 'postgres://postgres@127.0.0.1:1/postgres' })
  expect(await database).toMatch(/^Millrace cannot start: Postgres does not answer: /m)
})
