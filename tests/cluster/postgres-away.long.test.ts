import { setTimeout as delay } from 'node:timers/promises'
import { PostgresServer } from '@millrace/postgres/local-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServerProcess } from '../e2e/server-process.ts'
import { ClusterUnderTest, ok, owned, sourcesOf } from './cluster-under-test.ts'
import { SteadyLoad } from './steady-load.ts'
import { TimedSink } from './timed-sink.ts'

const SOURCES = 4
const AWAY_MS = 60_000
/** Delivered and not yet recorded when a pipeline lost its shards, and calls in flight. */
const MAX_REPEATS = 2 * (1_000 + 100)

let postgres: PostgresServer
let cluster: ClusterUnderTest
let front: ServerProcess
let pipelines: ServerProcess[]
let sink: TimedSink
beforeAll(async () => {
  postgres = await PostgresServer.start()
  cluster = await ClusterUnderTest.start('postgres_away', { postgres })
  front = await cluster.add({ MILLRACE_ROLES: 'gateway,control' })
  pipelines = [await cluster.add({ MILLRACE_ROLES: 'pipeline' }), await cluster.add({ MILLRACE_ROLES: 'pipeline' })]
  sink = await TimedSink.start()
})
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]()
  await postgres?.[Symbol.asyncDispose]()
  sink?.[Symbol.dispose]()
})

test('Postgres away for 60 s: every accept answers 200, and afterwards all is delivered in order, without a restart', {
  timeout: 300_000,
}, async () => {
  const { sources, destinationId } = await sourcesOf(front, SOURCES, sink.url)
  const shares = () => Promise.all(pipelines.map(owned))
  await expect.poll(shares, { timeout: 30_000 }).toEqual([2, 2])
  const load = new SteadyLoad(front, sources)
  await expect.poll(() => sink.calls.length).toBeGreaterThan(100)

  await postgres.stop()
  const acceptedBefore = load.count
  await delay(AWAY_MS)
  const acceptedMeanwhile = load.count - acceptedBefore
  expect([...load.others]).toEqual([])
  expect(acceptedMeanwhile).toBeGreaterThan(SOURCES * 100)
  await postgres.start()
  await load.stop()

  expect([...load.others]).toEqual([])
  await expect.poll(() => new Set(sink.messageIds).size, { timeout: 120_000 }).toBe(load.count)
  for (const [source, accepted] of load.accepted.entries()) {
    const first = [...new Set(sink.of(source).map(({ messageId }) => messageId))]
    expect(first, 'first arrivals are in order').toEqual(accepted)
  }
  expect(sink.calls.length - load.count).toBeLessThanOrEqual(MAX_REPEATS)
  await expect.poll(shares, { timeout: 30_000 }).toEqual([2, 2])
  const waiting = async () => {
    const { pending, retrying } = await ok(front, 'GET', `/destinations/${destinationId}/delivery`)
    return pending + retrying
  }
  await expect.poll(waiting, { timeout: 30_000 }).toBe(0)
})
