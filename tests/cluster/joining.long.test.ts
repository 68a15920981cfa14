import { randomFrom } from '@millrace/std'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServerProcess } from '../e2e/server-process.ts'
import { ClusterUnderTest, owned, sourcesOf } from './cluster-under-test.ts'
import { SteadyLoad } from './steady-load.ts'
import { TimedSink } from './timed-sink.ts'

const SHARDS = 8
const CHANGES = 20
const MAX_PIPELINES = 4

let cluster: ClusterUnderTest
let front: ServerProcess
let sink: TimedSink
let sources: readonly { readonly writeKey: string }[]
beforeAll(async () => {
  cluster = await ClusterUnderTest.start('joining')
  front = await cluster.add({ MILLRACE_ROLES: 'gateway,control', MILLRACE_PARTITIONS: `${SHARDS}` })
  sink = await TimedSink.start()
  sources = (await sourcesOf(front, SHARDS, sink.url)).sources
})
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]()
  sink?.[Symbol.dispose]()
})

test('pipelines join and leave 20 times under load: only shards that must move do, and no event is lost, repeated or out of order', {
  timeout: 600_000,
}, async () => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  const random = randomFrom(seed)
  const pipelines = [await pipeline()]
  await settled(pipelines)
  const load = new SteadyLoad(front, sources)
  await using pool = cluster.schema.pool()
  const epochs = async () => {
    const text = "SELECT number, epoch FROM lease WHERE kind = 'shard'"
    const rows = await pool.query<{ number: number; epoch: number }>(text)
    return new Map(rows.map(({ number, epoch }) => [number, Number(epoch)]))
  }
  for (let change = 1; change <= CHANGES; change++) {
    const before = await epochs()
    const isJoining = pipelines.length === 1 || (pipelines.length < MAX_PIPELINES && random() < 0.5)
    let mustMove: number
    if (isJoining) {
      const share = Math.ceil(SHARDS / (pipelines.length + 1))
      const shares = await Promise.all(pipelines.map(owned))
      mustMove = shares.reduce((sum, each) => sum + Math.max(0, each - share), 0)
      pipelines.push(await pipeline())
    } else {
      const [leaving] = pipelines.splice(Math.floor(random() * pipelines.length), 1)
      mustMove = await owned(leaving!)
      expect(await leaving!.stop(), `seed ${seed}, change ${change}`).toBe(0)
    }
    await settled(pipelines)
    const after = await epochs()
    const moved = [...after].filter(([shard, epoch]) => before.get(shard) !== epoch)
    expect(moved.length, `seed ${seed}, change ${change}: moved ${moved}`).toBeLessThanOrEqual(mustMove)
  }
  await load.stop()
  expect([...load.others]).toEqual([])
  await expect.poll(() => new Set(sink.messageIds).size, { timeout: 30_000 }).toBe(load.count)
  for (const [source, accepted] of load.accepted.entries()) {
    expect(
      sink.of(source).map(({ messageId }) => messageId),
      `seed ${seed}`,
    ).toEqual(accepted)
  }
})

function pipeline(): Promise<ServerProcess> {
  return cluster.add({ MILLRACE_ROLES: 'pipeline' })
}

/** Resolves when every shard has an owner, and no pipeline has more than its share. */
async function settled(pipelines: readonly ServerProcess[]): Promise<void> {
  const share = Math.ceil(SHARDS / pipelines.length)
  const isSettled = async () => {
    const shares = await Promise.all(pipelines.map(owned))
    return shares.reduce((sum, each) => sum + each, 0) === SHARDS && shares.every((each) => each <= share)
  }
  await expect.poll(isSettled, { timeout: 30_000, interval: 20 }).toBe(true)
}
