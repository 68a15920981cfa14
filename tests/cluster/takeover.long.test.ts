import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServerProcess } from '../e2e/server-process.ts'
import { ClusterUnderTest, LEASE_MS, owned, sourcesOf } from './cluster-under-test.ts'
import { SteadyLoad } from './steady-load.ts'
import { TimedSink } from './timed-sink.ts'

/* How long a shard is not read when the pipeline that owns it ends. Its events are of one user, so one call follows the other. */

const SOURCES = 4
const ROUNDS = 4
const CALL_MS = 150
/** For the first reads of a shard, on a machine with other work. */
const READING_MS = 1_000

let cluster: ClusterUnderTest
let front: ServerProcess
let pipelines: ServerProcess[]
let sink: TimedSink
let load: SteadyLoad
beforeAll(async () => {
  cluster = await ClusterUnderTest.start('takeover')
  front = await cluster.add({ MILLRACE_ROLES: 'gateway,control' })
  sink = await TimedSink.start()
  sink.answerMs = CALL_MS
  const { sources } = await sourcesOf(front, SOURCES, sink.url)
  pipelines = [await newPipeline(), await newPipeline()]
  load = new SteadyLoad(front, sources, 2 * CALL_MS)
})
afterAll(async () => {
  await load?.stop()
  await cluster?.[Symbol.asyncDispose]()
  sink?.[Symbol.dispose]()
})

test('after kill -9 every shard is read again within the lease plus a quarter', async () => {
  const gaps = await gapsOf((pipeline) => {
    pipeline.signal('SIGKILL')
    return pipeline.exited
  })
  expect(Math.max(...gaps), `${gaps.map(Math.round)}`).toBeLessThan(1.25 * LEASE_MS + READING_MS)
})

test('after SIGTERM every shard is read again within a second plus the calls in flight', async () => {
  const gaps = await gapsOf((pipeline) => pipeline.stop())
  // Between two calls of a source are its pause and the call itself.
  expect(Math.max(...gaps), `${gaps.map(Math.round)}`).toBeLessThan(1_000 + 3 * CALL_MS + READING_MS)
})

/** So many kills would make events run one at a time. */
function newPipeline(): Promise<ServerProcess> {
  return cluster.add({ MILLRACE_ROLES: 'pipeline', MILLRACE_UNCLEAN_ENDS: '0' })
}

/** Ends one pipeline after the other, each of which is replaced. @returns the longest time without a call of a source, for each. */
async function gapsOf(end: (pipeline: ServerProcess) => Promise<unknown>): Promise<number[]> {
  const gaps: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    await expect.poll(() => Promise.all(pipelines.map(owned)), { timeout: 30_000 }).toEqual([2, 2])
    const ending = pipelines.shift()!
    const from = performance.now()
    await end(ending)
    await expect.poll(() => owned(pipelines[0]!), { timeout: 30_000, interval: 20 }).toBe(SOURCES)
    await readAgain(performance.now())
    gaps.push(Math.max(...Array.from({ length: SOURCES }, (_, source) => longestGap(source, from, performance.now()))))
    pipelines.push(await newPipeline())
  }
  return gaps
}

/** Resolves when each source has had a call after this moment. */
async function readAgain(moment: number): Promise<void> {
  const hasCall = (source: number) => (sink.of(source).at(-1)?.at ?? 0) > moment
  const all = () => Array.from({ length: SOURCES }, (_, source) => source).every(hasCall)
  await expect.poll(all, { timeout: 30_000, interval: 20 }).toBe(true)
}

function longestGap(source: number, from: number, until: number): number {
  const times = sink.of(source).map(({ at }) => at)
  const around = times.filter((at, i) => at <= until && (at >= from || (times[i + 1] ?? until) >= from))
  return Math.max(...around.slice(1).map((at, i) => at - around[i]!))
}
