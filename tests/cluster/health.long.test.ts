import { KafkaCluster } from '@millrace/log/kafka-brokers'
import { Sink } from '@millrace/pipeline/testing/sink'
import { PostgresServer } from '@millrace/postgres/local-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServerProcess } from '../e2e/server-process.ts'
import { ClusterUnderTest, connected, event, healthOf, LEASE_MS, metricsOf, send } from './cluster-under-test.ts'

/* What each role says while Kafka or Postgres is away. */

let postgres: PostgresServer
let kafka: KafkaCluster
let cluster: ClusterUnderTest
let gateway: ServerProcess
let pipeline: ServerProcess
let control: ServerProcess
let sink: Sink
let writeKey: string
beforeAll(async () => {
  postgres = await PostgresServer.start()
  kafka = await KafkaCluster.start({ brokers: 1 })
  cluster = await ClusterUnderTest.start('health', { postgres, kafka })
  control = await cluster.add({ MILLRACE_ROLES: 'control' })
  gateway = await cluster.add({ MILLRACE_ROLES: 'gateway' })
  pipeline = await cluster.add({ MILLRACE_ROLES: 'pipeline' })
  sink = await Sink.start()
  const { source } = await connected(control, sink.url)
  writeKey = source.writeKey
}, 60_000)
afterAll(async () => {
  if (!postgres.isRunning) await postgres.start()
  await cluster[Symbol.asyncDispose]()
  await kafka[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
  sink.close()
})

test('without Postgres control and, after its lease, pipeline are unhealthy; gateways accept; the age of the snapshot is told', async () => {
  await expect.poll(() => send(gateway, writeKey, [event('first')])).toBe(200)
  await expect.poll(() => sink.messageIds).toContain('first')
  await postgres.stop()
  const stoppedAt = performance.now()
  expect(await healthOf(control)).toMatchObject({ status: 503, routingEvents: 'FALSE' })
  expect((await healthOf(control)).checks['database']).toMatch(/^Postgres does not answer/)
  const delivery = async () => (await healthOf(pipeline)).checks['delivery']
  const unrenewed = /^no lease was renewed for \d+ s: Postgres does not answer/
  await expect.poll(delivery, { timeout: 20_000 }).toMatch(unrenewed)
  // The last renewal was up to a quarter of the lease before.
  expect(performance.now() - stoppedAt).toBeGreaterThan(0.7 * LEASE_MS)
  expect(await healthOf(pipeline)).toMatchObject({ status: 503, routingEvents: 'FALSE' })
  expect(await send(gateway, writeKey, [event('meanwhile')])).toBe(200)
  for (const server of [gateway, pipeline, control]) {
    const config = async () => (await healthOf(server)).checks['config']
    await expect.poll(config, { timeout: 20_000 }).toMatch(/^last confirmed \d\d s ago$/)
    expect((await metricsOf(server)).get('millrace_snapshot_age_seconds')).toBeGreaterThan(10)
    expect((await fetch(`${server.url}/ready`)).status).toBe(200)
  }
  expect(await healthOf(gateway)).toMatchObject({ status: 200, acceptingEvents: 'TRUE', routingEvents: 'TRUE' })

  await postgres.start()
  for (const server of [gateway, pipeline, control]) {
    await expect
      .poll(() => healthOf(server), { timeout: 20_000 })
      .toMatchObject({ status: 200, checks: { config: 'ok' } })
  }
  await expect.poll(() => sink.messageIds, { timeout: 20_000 }).toContain('meanwhile')
}, 90_000)

test('without Kafka gateways are unhealthy at once, pipelines once they could not read for 60 s, and control not at all', async () => {
  const [broker] = kafka.brokers
  await broker!.kill()
  const killedAt = performance.now()
  await expect
    .poll(() => healthOf(gateway), { timeout: 20_000 })
    .toMatchObject({ status: 503, acceptingEvents: 'FALSE' })
  const named = async () => (await healthOf(pipeline)).checks['brokers']
  await expect.poll(named, { timeout: 20_000 }).not.toBe('ok')
  expect(await healthOf(pipeline)).toMatchObject({ status: 200 })
  expect(await healthOf(control)).toMatchObject({ status: 200 })
  await expect.poll(() => healthOf(pipeline), { timeout: 80_000, interval: 500 }).toMatchObject({ status: 503 })
  expect(performance.now() - killedAt).toBeGreaterThan(55_000)
  expect((await fetch(`${gateway.url}/ready`)).status).toBe(200)

  await broker!.start()
  for (const server of [gateway, pipeline]) {
    await expect.poll(() => healthOf(server), { timeout: 30_000 }).toMatchObject({ status: 200 })
  }
  await expect.poll(() => send(gateway, writeKey, [event('last')]), { timeout: 30_000 }).toBe(200)
  await expect.poll(() => sink.messageIds, { timeout: 30_000 }).toContain('last')
}, 180_000)
