import { Sink } from '@millrace/pipeline/testing/sink'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServerProcess } from '../e2e/server-process.ts'
import { ClusterUnderTest, connectAll, event, ok, owned, send, sourcesOf } from './cluster-under-test.ts'

/* Sources and connections that are made while pipelines run. */

const SHARDS = 8
/** Longer than these tests stop a pipeline. */
const LEASE_SECONDS = '30'

let cluster: ClusterUnderTest
let front: ServerProcess
let pipelines: ServerProcess[]
let first: Sink
let sources: readonly { readonly id: string; readonly writeKey: string }[]
beforeAll(async () => {
  cluster = await ClusterUnderTest.start('new_resources')
  const settings = { MILLRACE_PARTITIONS: `${SHARDS}`, MILLRACE_LEASE_SECONDS: LEASE_SECONDS }
  front = await cluster.add({ ...settings, MILLRACE_ROLES: 'gateway,control' })
  const pipeline = () => cluster.add({ ...settings, MILLRACE_ROLES: 'pipeline' })
  pipelines = [await pipeline(), await pipeline()]
  first = await Sink.start()
  sources = (await sourcesOf(front, SHARDS, first.url)).sources
})
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]()
  first?.close()
})

test('eight sources that are made one after the other lie in eight partitions', async () => {
  const partitions: string[] = []
  for (const [n, { writeKey }] of sources.entries()) {
    await expect.poll(() => send(front, writeKey, [event(`place-${n}`)])).toBe(200)
    const position = async () => (await ok(front, 'GET', `/events/place-${n}`)).events[0]?.position
    await expect.poll(position).toMatch(/^\d+-/)
    partitions.push((await position()).split('-')[0])
  }
  expect(partitions.map(Number).sort()).toEqual(Array.from({ length: SHARDS }, (_, n) => n))
})

test('events accepted after the 200 of a new connection reach it, in all partitions, though the pipelines have the old snapshot', async () => {
  await expect.poll(() => Promise.all(pipelines.map(owned)), { timeout: 60_000 }).toEqual([4, 4])
  const late = await Sink.start()
  // Stopped, they cannot read the new configuration before the events are in the log.
  for (const pipeline of pipelines) pipeline.signal('SIGSTOP')
  try {
    await connectAll(front, sources, late.url)
    for (const [n, { writeKey }] of sources.entries()) {
      expect(await send(front, writeKey, [event(`late-${n}-1`), event(`late-${n}-2`)])).toBe(200)
    }
  } finally {
    for (const pipeline of pipelines) pipeline.signal('SIGCONT')
  }
  const ids = sources.flatMap((_, n) => [`late-${n}-1`, `late-${n}-2`])
  await expect.poll(() => late.messageIds.toSorted()).toEqual(ids.toSorted())
  await expect.poll(() => ids.every((id) => first.messageIds.includes(id))).toBe(true)
  late.close()
})
