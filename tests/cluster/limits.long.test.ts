import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { ServerProcess } from '../e2e/server-process.ts'
import { ClusterUnderTest, connectAll, event, ok, owned, send, sourcesOf } from './cluster-under-test.ts'
import { TimedSink } from './timed-sink.ts'

/* Limits of a destination to which up to four pipelines deliver the events of eight shards. */

const SHARDS = 8
const LIMIT = 45
const WINDOW_MS = 20_000
const WINDOWS = 3
const FAILURES_TO_REST = 20
const CONCURRENCY = 100
/** A resting destination is tried every 30 s. */
const WATCHED_MS = 95_000

let cluster: ClusterUnderTest
let front: ServerProcess
let sink: TimedSink
let sources: readonly { readonly id: string; readonly writeKey: string }[]
let destinationId: string | undefined
const pipelines: ServerProcess[] = []
beforeAll(async () => {
  cluster = await ClusterUnderTest.start('limits')
  front = await cluster.add({ MILLRACE_ROLES: 'gateway,control', MILLRACE_PARTITIONS: `${SHARDS}` })
  sink = await TimedSink.start()
  const made = await sourcesOf(front, SHARDS, sink.url)
  sources = made.sources
  await ok(front, 'DELETE', `/destinations/${made.destinationId}?cascade=true&discard=true`)
})
afterEach(async () => {
  if (destinationId !== undefined) {
    await ok(front, 'DELETE', `/destinations/${destinationId}?cascade=true&discard=true`)
  }
  destinationId = undefined
  await expect.poll(() => sink.inFlight, { timeout: 30_000 }).toBe(0)
})
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]()
  sink?.[Symbol.dispose]()
})

test.each([1, 2, 4])(
  'a throttle of 45 per 20 s over %i pipelines: never more than 45 in any 20 s at the destination, and at least 40',
  { timeout: 240_000 },
  async (count) => {
    await pipelinesAre(count)
    const throttle = { limit: LIMIT, windowSeconds: WINDOW_MS / 1_000 }
    destinationId = await connectAll(front, sources, sink.url, { delivery: { throttle } })
    const before = sink.calls.length
    await sendToAll(`throttled-${count}`, 30)
    const times = () => sink.calls.slice(before).map(({ at }) => at)
    await expect.poll(() => times().length, { timeout: 30_000 }).toBeGreaterThan(0)
    const begin = times()[0]!
    await delay(WINDOWS * WINDOW_MS)
    const all = times()
    for (const [i, at] of all.entries()) {
      const earlier = all[i - LIMIT]
      if (earlier !== undefined) expect(at - earlier, `event ${i}`).toBeGreaterThanOrEqual(WINDOW_MS)
    }
    const inRun = all.filter((at) => at < begin + WINDOWS * WINDOW_MS).length
    expect(inRun / WINDOWS, `${inRun} in ${WINDOWS} windows`).toBeGreaterThanOrEqual(40)
  },
)

test('a dead destination with 4 pipelines: few failures before all rest, then one probe at a time; after it is back, all arrives', {
  timeout: 360_000,
}, async () => {
  await pipelinesAre(4)
  sink.status = 500
  sink.answerMs = 100
  destinationId = await connectAll(front, sources, sink.url, { delivery: { concurrency: CONCURRENCY } })
  const before = sink.calls.length
  await sendToAll('dead', 60)
  const state = async () => (await ok(front, 'GET', `/destinations/${destinationId}/delivery`)).state
  await expect.poll(state, { timeout: 30_000 }).toBe('resting')
  // The other pipelines follow within a second.
  await delay(2_000)
  await expect.poll(() => sink.inFlight).toBe(0)
  const failed = sink.calls.length - before
  expect(failed).toBeGreaterThanOrEqual(FAILURES_TO_REST)
  expect(failed).toBeLessThanOrEqual(FAILURES_TO_REST * 4 + CONCURRENCY)

  sink.mostInFlight = 0
  sink.answerMs = 3_000
  await delay(WATCHED_MS)
  expect(sink.mostInFlight, 'one probe at a time').toBe(1)
  const probes = sink.calls.length - before - failed
  expect(probes).toBeGreaterThanOrEqual(2)
  expect(probes).toBeLessThanOrEqual(4)

  sink.status = 200
  sink.answerMs = 0
  const ids = () => new Set(sink.calls.slice(before + failed + probes).map(({ messageId }) => messageId))
  await expect.poll(() => ids().size, { timeout: 90_000 }).toBe(SHARDS * 60)
})

/** Starts those that are missing, and waits until each has its share. */
async function pipelinesAre(count: number): Promise<void> {
  while (pipelines.length < count) pipelines.push(await cluster.add({ MILLRACE_ROLES: 'pipeline' }))
  const shares = () => Promise.all(pipelines.map(owned))
  await expect.poll(shares, { timeout: 30_000 }).toEqual(pipelines.map(() => SHARDS / count))
}

/** Each event of another user. */
async function sendToAll(name: string, each: number): Promise<void> {
  for (const [source, { writeKey }] of sources.entries()) {
    const events = Array.from({ length: each }, (_, n) => event(`${name}.${source}.${n}`, `${name}-${source}-${n}`))
    await expect.poll(() => send(front, writeKey, events)).toBe(200)
  }
}
