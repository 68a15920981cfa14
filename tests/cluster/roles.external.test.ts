import { Sink } from '@millrace/pipeline/testing/sink'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServerProcess } from '../e2e/server-process.ts'
import { api, ClusterUnderTest, connected, event, metricsOf, ok, send } from './cluster-under-test.ts'

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
