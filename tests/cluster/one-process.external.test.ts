import { Sink } from '@millrace/pipeline/testing/sink'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServerProcess } from '../e2e/server-process.ts'
import { api, ClusterUnderTest, connected, event, ok, owned, send } from './cluster-under-test.ts'

/* One process with all roles, over a real broker and a real Postgres. */

let cluster: ClusterUnderTest
let server: ServerProcess
let sink: Sink
beforeAll(async () => {
  cluster = await ClusterUnderTest.start('one_process')
  server = await cluster.add()
  sink = await Sink.start()
})
afterAll(async () => {
  await cluster[Symbol.asyncDispose]()
  sink.close()
})

test('events are accepted, delivered in order, traced and listed', async () => {
  const { source, destination } = await connected(server, sink.url)
  const ids = Array.from({ length: 50 }, (_, n) => `order-${n}`)
  for (const id of ids) expect(await send(server, source.writeKey, [event(id)])).toBe(200)
  await expect.poll(() => sink.messageIds).toEqual(ids)

  const trace = () => api(server, 'GET', '/events/order-7')
  await expect.poll(async () => (await trace()).body.events?.[0]?.destinations?.[0]?.outcome).toBe('delivered')
  const [traced] = (await trace()).body.events
  expect(traced.destinations).toMatchObject([{ destinationId: destination.id, outcome: 'delivered' }])
  expect(traced.event.messageId).toBe('order-7')

  const { events } = await ok(server, 'GET', `/events?sourceId=${source.id}&limit=50`)
  expect(events.map(({ messageId }: { messageId: string }) => messageId)).toEqual(ids.toReversed())
  const outcomes = new Set(events.map((each: { outcomes: { outcome: string }[] }) => each.outcomes[0]?.outcome))
  expect([...outcomes]).toEqual(['delivered'])
})

// Its sources are the first two: the other shards have none, and no process owns them.
test('a replay runs at its whole rate and ends while other shards have no owner', async () => {
  const { replay } = await replayOf({ name: 'Paced', count: 40, rateEventsPerSecond: 8 })
  expect(await jobDone(replay.id)).toMatchObject({ delivered: 40 })
  const { createdAt, finishedAt } = (await ok(server, 'GET', `/replays/${replay.id}`)).replay
  // A share of a quarter or less takes at least 20 s.
  expect(Date.parse(finishedAt) - Date.parse(createdAt)).toBeLessThan(15_000)
})

test('a replay ends though its source, the only one of its shard, is removed meanwhile', async () => {
  const { source, replay } = await replayOf({ name: 'Gone', count: 100, rateEventsPerSecond: 10 })
  const before = await owned(server)
  const job = async () => (await ok(server, 'GET', `/replays/${replay.id}`)).replay
  // Counted before the removal: from then on the owner passes events over, and a later count would leave those out.
  await expect.poll(async () => (await job()).matched).toBe(100)
  await expect.poll(async () => (await job()).delivered).toBeGreaterThan(0)
  const removed = await api(server, 'DELETE', `/sources/${source.id}?cascade=true&discard=true`)
  expect(removed).toMatchObject({ status: 204 })
  expect(await jobDone(replay.id)).toMatchObject({ matched: 100 })
  await expect.poll(() => owned(server)).toBe(before - 1)
})

test('a backfill is delivered, and traced at its own partition', async () => {
  const { source } = await connected(server, sink.url, 'Backfill')
  const answer = await fetch(`${server.url}/v1/backfill`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${source.writeKey}:`).toString('base64')}` },
    body: JSON.stringify({ batch: [event('history-1'), event('history-2')] }),
  })
  expect(answer.status).toBe(200)
  await expect.poll(() => sink.messageIds.filter((id) => id.startsWith('history-'))).toEqual(['history-1', 'history-2'])
  const trace = async () => (await api(server, 'GET', '/events/history-1')).body.events?.[0]
  await expect.poll(async () => (await trace())?.destinations[0]?.outcome).toBe('delivered')
  expect((await trace()).position).toMatch(/^[4-7]-/)
})

test('a refused event becomes a dead letter, and its replay delivers it; the job ends', async () => {
  const refusing = await Sink.start(400)
  const { source, destination } = await connected(server, refusing.url, 'Letters')
  await send(server, source.writeKey, [event('letter-1', 'a'), event('letter-2', 'b'), event('letter-3', 'c')])
  const letters = async () => (await ok(server, 'GET', `/dead-letters?destinationId=${destination.id}`)).deadLetters
  await expect.poll(async () => (await letters()).length).toBe(3)
  await expect
    .poll(async () => (await ok(server, 'GET', `/destinations/${destination.id}/delivery`)).deadLettersOpen)
    .toBe(3)

  refusing.answer = () => 200
  const one = await ok(server, 'POST', `/dead-letters/${(await letters())[0].id}/replay`)
  await jobDone(one.replayId)
  const all = await ok(server, 'POST', '/dead-letters/replay', { filter: { destinationId: destination.id } })
  expect(await jobDone(all.replayId)).toMatchObject({ matched: 2, taken: 2, delivered: 2 })
  expect(await letters()).toEqual([])
  expect([...new Set(refusing.messageIds)].sort()).toEqual(['letter-1', 'letter-2', 'letter-3'])
  refusing.close()
})

test('a replay of the log delivers a range again, to a destination that is new to it', async () => {
  const { source } = await connected(server, sink.url, 'Replayed')
  const from = new Date(Date.now() - 60_000).toISOString()
  const events = Array.from({ length: 20 }, (_, n) => event(`again-${n}`))
  expect(await send(server, source.writeKey, events)).toBe(200)
  await expect.poll(() => sink.messageIds.filter((id) => id.startsWith('again-')).length).toBe(20)
  const later = await Sink.start()
  const { destination } = await ok(server, 'POST', '/destinations', {
    name: 'Later',
    type: 'WEBHOOK',
    config: { webhookUrl: later.url },
  })
  await ok(server, 'POST', '/connections', { sourceId: source.id, destinationId: destination.id })
  const range = { sourceIds: [source.id], from, to: new Date(Date.now() + 60_000).toISOString() }
  const dry = await ok(server, 'POST', '/replays', { ...range, destinationIds: [destination.id], dryRun: true })
  expect(await jobDone(dry.replay.id)).toMatchObject({ matched: 20, taken: 0 })
  const { replay } = await ok(server, 'POST', '/replays', {
    ...range,
    destinationIds: [destination.id],
  })
  expect(await jobDone(replay.id)).toMatchObject({ matched: 20, taken: 20, delivered: 20 })
  expect(later.messageIds).toEqual(Array.from({ length: 20 }, (_, n) => `again-${n}`))
  later.close()
})

test('a removed connection discards what waits for it, and a trace says so', async () => {
  const dead = await Sink.start(503)
  const { source, connection, destination } = await connected(server, dead.url, 'Removed')
  await send(server, source.writeKey, [event('left-1', 'x'), event('left-2', 'y')])
  await expect.poll(() => dead.arrivals.length).toBeGreaterThan(1)
  const waiting = async () => (await ok(server, 'GET', `/destinations/${destination.id}/delivery`)).retrying
  await expect.poll(waiting).toBe(2)
  const refused = await api(server, 'DELETE', `/connections/${connection.id}`)
  expect([refused.status, refused.body.details]).toMatchObject([409, { waiting: 2 }])
  expect((await api(server, 'DELETE', `/connections/${connection.id}?discard=true`)).status).toBe(204)
  const trace = async () => (await api(server, 'GET', '/events/left-1')).body.events[0].destinations
  await expect.poll(trace).toMatchObject([{ outcome: 'discarded', reason: 'connection was removed' }])
  dead.close()
})

test('an event sent as soon as the live view has answered is shown with its outcome', async () => {
  const { source } = await connected(server, sink.url, 'Watched')
  for (const round of [1, 2, 3]) {
    const end = new AbortController()
    const headers = { authorization: `Bearer ${cluster.settings['MILLRACE_OWNER_TOKEN']}` }
    const { body } = await fetch(`${server.url}/v2/tail`, { headers, signal: end.signal })
    let shown = ''
    const reading = (async () => {
      for await (const chunk of body!.pipeThrough(new TextDecoderStream())) shown += chunk
    })().catch(() => {})
    expect(await send(server, source.writeKey, [event(`watched-${round}`)])).toBe(200)
    for (const kind of ['accepted', 'outcome']) {
      await expect.poll(() => shown).toContain(`event: ${kind}\ndata: {"messageId":"watched-${round}"`)
    }
    end.abort()
    await reading
  }
})

test('what is not available yet answers with the reason', async () => {
  const refusals: [path: string, method: string, status: number, text: string][] = [
    ['/v2/admin/backup', 'POST', 409, 'Back up Postgres'],
  ]
  const headers = { authorization: `Bearer ${cluster.settings['MILLRACE_OWNER_TOKEN']}` }
  for (const [path, method, status, text] of refusals) {
    const answer = await fetch(`${server.url}${path}`, { method, headers })
    expect([path, answer.status, ((await answer.json()) as { error: string }).error]).toEqual([path, status, text])
  }
})

test('health names what the process runs and what its topics cannot keep', async () => {
  const answer = await fetch(`${server.url}/health`)
  expect(answer.status).toBe(200)
  const body = (await answer.json()) as { appType: string; checks: Record<string, string> }
  expect(body.appType).toBe('gateway+pipeline+catalog+control')
  expect(body.checks['topics']).toContain('a 200 does not survive the loss of one broker')
  expect(Object.entries(body.checks).filter(([name, text]) => name !== 'topics' && text !== 'ok')).toEqual([])
})

test('a restart on an empty folder goes on where the process stopped', async () => {
  const held = await Sink.start('hang')
  const { source } = await connected(server, held.url, 'Restarted')
  await send(server, source.writeKey, [event('kept-1')])
  await expect.poll(() => held.held).toBe(1)
  server.signal('SIGKILL')
  await server.exited
  held.release()
  server = await cluster.add()
  await expect.poll(() => new Set(held.messageIds)).toEqual(new Set(['kept-1']))
  expect((await api(server, 'GET', '/events/order-7')).body.events[0].destinations[0].outcome).toBe('delivered')
  held.close()
})

/** Sends events from a new source; when they have arrived, begins to replay them. */
async function replayOf(options: { name: string; count: number; rateEventsPerSecond: number }) {
  const { name, count, rateEventsPerSecond } = options
  const { source, destination } = await connected(server, sink.url, name)
  const from = new Date(Date.now() - 60_000).toISOString()
  const events = Array.from({ length: count }, (_, n) => event(`${name}-${n}`))
  expect(await send(server, source.writeKey, events)).toBe(200)
  await expect.poll(() => sink.messageIds.filter((id) => id.startsWith(`${name}-`)).length).toBe(count)
  // A replay leaves out what has no outcome yet. Outcomes are counted as they are stored; `pending` may be 2 s old.
  const delivered = async () => (await ok(server, 'GET', `/destinations/${destination.id}/delivery`)).delivered24h
  await expect.poll(delivered).toBe(count)
  const range = { sourceIds: [source.id], from, to: new Date(Date.now() + 60_000).toISOString() }
  const request = { ...range, destinationIds: [destination.id], rateEventsPerSecond }
  const { replay } = await ok(server, 'POST', '/replays', request)
  return { source, replay }
}

/** The job, once it is done. */
async function jobDone(id: string): Promise<object> {
  const job = async () => (await ok(server, 'GET', `/replays/${id}`)).replay
  await expect.poll(async () => (await job()).state).toBe('done')
  return job()
}
