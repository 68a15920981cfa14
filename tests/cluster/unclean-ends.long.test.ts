import { Sink } from '@millrace/pipeline/testing/sink'
import type { PostgresPool } from '@millrace/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServerProcess } from '../e2e/server-process.ts'
import { ClusterUnderTest, connected, event, LEASE_MS, ok, owned, send } from './cluster-under-test.ts'

/* An event that ends each process that delivers it: contracts/cluster.md §4 [K26], decision 0071. */

const CONNECTED = 2

let cluster: ClusterUnderTest
let front: ServerProcess
let pool: PostgresPool
let sink: Sink
beforeAll(async () => {
  cluster = await ClusterUnderTest.start('unclean_ends')
  front = await cluster.add({ MILLRACE_ROLES: 'gateway,control' })
  pool = cluster.schema.pool()
  sink = await Sink.start()
})
afterAll(async () => {
  await pool?.end()
  await cluster?.[Symbol.asyncDispose]()
  sink?.close()
})

const pipeline = () => cluster.add({ MILLRACE_ROLES: 'pipeline' })
const arrivalsOf = (id: string) => sink.messageIds.filter((each) => each === id).length
/** The events that are noted as running alone. */
async function noted(): Promise<{ sourceId: string; offset: number }[]> {
  const rows = await pool.query<{ event: string }>('SELECT event FROM under_way')
  return rows.map(({ event: json }) => JSON.parse(json))
}

test('after three kills of the owners of a shard its events run alone, and so does no other shard of the process; at the fourth end the noted event is a dead letter', {
  timeout: 180_000,
}, async () => {
  const hanging = new Set(['a-2', 'b-0'])
  sink.answer = ({ event: { messageId } }) => (hanging.has(messageId) ? 'hang' : 200)
  const a = await connected(front, sink.url, 'Poisoned')
  const b = await connected(front, sink.url, 'Other')
  // One call at a time, so that some are left behind the poison.
  await ok(front, 'PATCH', `/destinations/${a.destination.id}`, { delivery: { concurrency: 1 } })
  const ofA = Array.from({ length: 5 }, (_, n) => event(`a-${n}`, `u-${n}`))
  expect(await send(front, a.source.writeKey, ofA)).toBe(200)
  expect(await send(front, b.source.writeKey, [event('b-0')])).toBe(200)
  for (let end = 1; end <= 3; end++) {
    const owner = await pipeline()
    await expect.poll(() => [arrivalsOf('a-2'), arrivalsOf('b-0')], { timeout: 30_000 }).toEqual([end, end])
    expect(await noted()).toEqual([])
    owner.signal('SIGKILL')
    await owner.exited
  }
  expect(arrivalsOf('a-3')).toBe(0)

  hanging.delete('b-0')
  const fourth = await pipeline()
  await expect.poll(() => arrivalsOf('a-2'), { timeout: 30_000 }).toBe(4)
  expect(await owned(fourth)).toBe(CONNECTED)
  expect(await noted()).toMatchObject([{ sourceId: a.source.id }])
  const before = arrivalsOf('b-0')
  expect(await send(front, b.source.writeKey, [event('b-1', 'another')])).toBe(200)
  const waiting = async () => (await ok(front, 'GET', `/destinations/${b.destination.id}/delivery`)).pending
  await expect.poll(waiting, { timeout: 10_000 }).toBeGreaterThan(0)
  expect(arrivalsOf('b-1')).toBe(0)
  expect(arrivalsOf('b-0')).toBe(before)
  fourth.signal('SIGKILL')
  await fourth.exited

  const fifth = await pipeline()
  await expect.poll(() => arrivalsOf('b-1'), { timeout: 30_000 }).toBe(1)
  await expect.poll(() => arrivalsOf('a-4'), { timeout: 30_000 }).toBe(1)
  expect(arrivalsOf('a-2')).toBe(4)
  const { deadLetters } = await ok(front, 'GET', '/dead-letters')
  expect(deadLetters).toMatchObject([{ reason: 'Ended the process', stage: 'internal', messageId: 'a-2' }])
  await expect.poll(noted).toEqual([])
  expect(await fifth.stop()).toBe(0)
  // A stop is no unclean end.
  expect(await pool.query('SELECT 1 FROM run WHERE noticed_at IS NULL')).toEqual([])
})

test('a process that was paused for longer than its lease, and goes on, is no unclean end', {
  timeout: 60_000,
}, async () => {
  const ends = async () => (await pool.query('SELECT 1 FROM run WHERE noticed_at IS NOT NULL')).length
  const before = await ends()
  const paused = await pipeline()
  await expect.poll(() => owned(paused)).toBe(CONNECTED)
  const other = await pipeline()
  await expect.poll(async () => [await owned(paused), await owned(other)]).toEqual([1, 1])
  paused.signal('SIGSTOP')
  await expect.poll(() => owned(other), { timeout: 4 * LEASE_MS }).toBe(CONNECTED)
  expect(await ends()).toBe(before + 1)
  paused.signal('SIGCONT')
  await expect.poll(ends, { timeout: 10_000 }).toBe(before)
})
