import { Sink } from '@millrace/pipeline/testing/sink'
import { BreakingProxy } from '@millrace/postgres/testing/breaking-proxy'
import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { expect, test } from 'vitest'
import { api, ClusterUnderTest, connected, event, ok, send } from './cluster-under-test.ts'

test('what a removal discards is recorded although Postgres broke off when it should have been', async () => {
  await using run = await TestSchema.open('removals')
  await using proxy = await BreakingProxy.open(run.url)
  await using cluster = await ClusterUnderTest.start('removals', { postgres: proxy })
  const server = await cluster.add()
  await using pool = cluster.schema.pool()
  const dead = await Sink.start(503)
  const { source, connection, destination } = await connected(server, dead.url, 'Removed')
  await send(server, source.writeKey, [event('left-1', 'x'), event('left-2', 'y')])
  const waiting = async () => (await ok(server, 'GET', `/destinations/${destination.id}/delivery`)).retrying
  await expect.poll(waiting).toBe(2)

  proxy.next = { message: 'INSERT INTO outcome_range', at: 'before' }
  expect((await api(server, 'DELETE', `/connections/${connection.id}?discard=true`)).status).toBe(204)
  await expect.poll(() => proxy.next).toBe(undefined)
  const trace = async () => (await api(server, 'GET', '/events/left-1')).body.events[0].destinations
  await expect.poll(trace).toMatchObject([{ outcome: 'discarded', reason: 'connection was removed' }])
  const spans = async () => pool.query('SELECT resource FROM span')
  await expect.poll(spans).toEqual([])
  dead.close()
})
