import { setTimeout as delay } from 'node:timers/promises'
import { Sink } from '@millrace/pipeline/testing/sink'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServerProcess } from '../e2e/server-process.ts'
import { api, ClusterUnderTest, connected, event, LEASE_MS, metric, ok, owned, send } from './cluster-under-test.ts'

/* Several processes with all roles, which share four shards. */

const SOURCES = 4

let cluster: ClusterUnderTest
let one: ServerProcess
let two: ServerProcess
let sink: Sink
/** One in each partition. */
let sources: { readonly id: string; readonly writeKey: string }[]
let destinationId: string
beforeAll(async () => {
  cluster = await ClusterUnderTest.start('several_processes')
  one = await cluster.add()
  two = await cluster.add()
  sink = await Sink.start()
  const first = await connected(one, sink.url, 'Cinema 0')
  destinationId = first.destination.id
  sources = [first.source]
  for (let n = 1; n < SOURCES; n++) {
    const { source } = await ok(one, 'POST', '/sources', { name: `Cinema ${n}`, type: 'HTTP' })
    await ok(one, 'POST', '/connections', { sourceId: source.id, destinationId })
    sources.push(source)
  }
})
afterAll(async () => {
  await cluster[Symbol.asyncDispose]()
  sink.close()
})

test('each process owns its fair share', async () => {
  await expect.poll(() => Promise.all([one, two].map(owned))).toEqual([2, 2])
})

test('a change takes effect in all processes within a second, and events after its answer are within it', async () => {
  // The last connection of each round is the one that the other process hears of after its events.
  for (let round = 0; round < 4; round++) await followed(`after-${round}`)
})

async function followed(prefix: string): Promise<void> {
  const late = await Sink.start()
  const { destination } = await ok(one, 'POST', '/destinations', {
    name: 'Late',
    type: 'WEBHOOK',
    config: { webhookUrl: late.url },
  })
  const connections = await Promise.all(
    sources.map(({ id }) => ok(one, 'POST', '/connections', { sourceId: id, destinationId: destination.id })),
  )
  const answeredAt = performance.now()
  // At once, through both processes, in every partition.
  const ids = sources.flatMap((_, n) => [`${prefix}-${n}-one`, `${prefix}-${n}-two`])
  const statuses = await Promise.all(
    sources.flatMap(({ writeKey }, n) => [
      send(one, writeKey, [event(`${prefix}-${n}-one`)]),
      send(two, writeKey, [event(`${prefix}-${n}-two`)]),
    ]),
  )
  expect(new Set(statuses)).toEqual(new Set([200]))
  const known = async () => (await api(two, 'GET', `/connections/${connections.at(-1).connection.id}`)).status
  await expect.poll(known, { interval: 10 }).toBe(200)
  expect(performance.now() - answeredAt).toBeLessThan(1_000)
  await expect.poll(() => late.messageIds.toSorted()).toEqual(ids)
  expect((await api(two, 'DELETE', `/destinations/${destination.id}?cascade=true&discard=true`)).status).toBe(204)
  late.close()
}

test('every process answers for the whole installation', async () => {
  const ids = sources.map((_, n) => `whole-${n}`)
  for (const [n, { writeKey }] of sources.entries())
    await send(n % 2 === 0 ? one : two, writeKey, [event(`whole-${n}`)])
  await expect.poll(() => ids.every((id) => sink.messageIds.includes(id))).toBe(true)
  for (const server of [one, two]) {
    for (const id of ids) {
      const outcome = async () => (await api(server, 'GET', `/events/${id}`)).body.events?.[0]?.destinations[0]?.outcome
      await expect.poll(outcome).toBe('delivered')
    }
    const { events } = await ok(server, 'GET', '/events?limit=4')
    expect(events.map(({ messageId }: { messageId: string }) => messageId).sort()).toEqual(ids)
    for (const step of [10, 300]) {
      const delivered = async () => {
        const { destinations } = await ok(server, 'GET', `/stats?step=${step}`)
        const found = destinations.find(({ id }: { id: string }) => id === destinationId)
        return (found?.delivered ?? []).reduce((sum: number, count: number | null) => sum + (count ?? 0), 0)
      }
      // Each process adds its counts every 10 s.
      const isNow = () => sink.messageIds.length
      await expect.poll(delivered, { timeout: 25_000 }).toBe(isNow())
    }
  }
})

test('the live view of one process shows events and outcomes of all', async () => {
  const end = new AbortController()
  const headers = { authorization: `Bearer ${cluster.settings['MILLRACE_OWNER_TOKEN']}` }
  const { body } = await fetch(`${one.url}/v2/tail`, { headers, signal: end.signal })
  let shown = ''
  const reading = (async () => {
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) shown += chunk
  })().catch(() => {})
  // It shows what happens from its first look on.
  let n = 0
  const seen = (kind: string, messageId: string) => shown.includes(`event: ${kind}\ndata: {"messageId":"${messageId}"`)
  await expect
    .poll(
      async () => {
        n++
        await Promise.all(sources.map(({ writeKey }, source) => send(two, writeKey, [event(`live-${source}-${n}`)])))
        return sources.every((_, source) => {
          return ['accepted', 'outcome'].every((kind) =>
            Array.from({ length: n }).some((_, i) => seen(kind, `live-${source}-${i + 1}`)),
          )
        })
      },
      { interval: 500 },
    )
    .toBe(true)
  end.abort()
  await reading
  const arrived = () => new Set(sink.messageIds.filter((id) => id.startsWith('live-'))).size
  await expect.poll(arrived).toBe(n * SOURCES)
})

test('states and waiting figures are sums over all shards', async () => {
  sink.answer = () => 503
  for (const [n, { writeKey }] of sources.entries()) {
    await send(one, writeKey, [event(`stuck-${n}-1`, 'a'), event(`stuck-${n}-2`, 'b')])
  }
  const waiting = async (server: ServerProcess) => {
    const { pending, retrying } = await ok(server, 'GET', `/destinations/${destinationId}/delivery`)
    return pending + retrying
  }
  for (const server of [one, two]) {
    await expect.poll(() => waiting(server)).toBe(8)
    const refused = await api(server, 'DELETE', `/destinations/${destinationId}?cascade=true`)
    expect([refused.status, refused.body.details]).toMatchObject([409, { waiting: 8 }])
  }
  // Whichever process answers knows why an event waits, though only the owner of its shard has it in a lane.
  const failing = { cause: 'destination_failing', status: 503, sentence: expect.stringContaining('answers 503 since') }
  for (const server of [one, two]) {
    for (const n of sources.keys()) {
      const waits = async () => (await ok(server, 'GET', `/events/stuck-${n}-1`)).events[0].destinations[0].waiting
      await expect.poll(waits).toMatchObject(failing)
    }
    const listed = async () => {
      const { events } = await ok(server, 'GET', `/events?sourceId=${sources[0]!.id}&limit=1`)
      return events[0].outcomes[0].waiting
    }
    await expect.poll(listed).toMatchObject(failing)
  }
  sink.answer = () => 200
  // No event of this test is left to the later ones.
  await expect.poll(() => waiting(one), { timeout: 60_000 }).toBe(0)
})

test('after kill -9 another process takes the shards over, and nothing accepted is lost', async () => {
  await expect.poll(() => Promise.all([one, two].map(owned)), { timeout: 30_000 }).toEqual([2, 2])
  two.signal('SIGKILL')
  await two.exited
  const killedAt = performance.now()
  const ids = sources.map((_, n) => `killed-${n}`)
  for (const [n, { writeKey }] of sources.entries()) expect(await send(one, writeKey, [event(`killed-${n}`)])).toBe(200)
  await expect.poll(() => ids.every((id) => sink.messageIds.includes(id)), { interval: 20 }).toBe(true)
  // The lease plus a quarter, and a second for the first reads and the calls.
  expect(performance.now() - killedAt).toBeLessThan(1.25 * LEASE_MS + 1_000)
  expect(await owned(one)).toBe(4)
})

test('after SIGTERM the others have the shards within about a second, and no event is repeated', async () => {
  two = await cluster.add()
  await expect.poll(() => Promise.all([one, two].map(owned)), { timeout: 30_000 }).toEqual([2, 2])
  const before = new Set(sink.messageIds)
  let isSending = true
  let sent = 0
  const sending = (async () => {
    for (; isSending; sent++) await send(one, sources[sent % SOURCES]!.writeKey, [event(`leaving-${sent}`)])
  })()
  const stoppedAt = performance.now()
  expect(await two.stop()).toBe(0)
  await expect.poll(() => owned(one), { interval: 20 }).toBe(4)
  expect(performance.now() - stoppedAt, 'a second, and the end of the process').toBeLessThan(2_500)
  isSending = false
  await sending
  const arrived = () => sink.messageIds.filter((id) => id.startsWith('leaving-') && !before.has(id))
  await expect.poll(() => new Set(arrived()).size).toBe(sent)
  expect(arrived(), 'no event twice').toHaveLength(sent)
})

test('a process that was stopped for twice its lease records nothing afterwards', async () => {
  two = await cluster.add()
  await expect.poll(() => Promise.all([one, two].map(owned)), { timeout: 30_000 }).toEqual([2, 2])
  // Calls of both processes are in flight when one of them stops.
  const held = await Sink.start('hang')
  await ok(one, 'PATCH', `/destinations/${destinationId}`, { config: { webhookUrl: held.url } })
  await expect
    .poll(async () => (await ok(two, 'GET', `/destinations/${destinationId}`)).destination.config.webhookUrl)
    .toBe(held.url)
  for (const [n, { writeKey }] of sources.entries()) await send(one, writeKey, [event(`paused-${n}`)])
  await expect.poll(() => held.held).toBe(SOURCES)
  two.signal('SIGSTOP')
  await expect.poll(() => owned(one), { timeout: 4 * LEASE_MS }).toBe(4)
  // The new owner sends again what the stopped one has in flight.
  await expect.poll(() => held.held).toBeGreaterThan(SOURCES)
  await delay(LEASE_MS)
  held.answer = () => 400
  two.signal('SIGCONT')
  held.release(400)
  for (const n of sources.keys()) {
    const journeys = async () => (await api(one, 'GET', `/events/paused-${n}`)).body.events[0].destinations
    await expect.poll(async () => (await journeys())[0].outcome).toBe('dead_lettered')
    expect(await journeys()).toHaveLength(1)
  }
  const { deadLetters } = await ok(one, 'GET', `/dead-letters?destinationId=${destinationId}`)
  expect(deadLetters.map(({ messageId }: { messageId: string }) => messageId).sort()).toEqual(
    sources.map((_, n) => `paused-${n}`),
  )
  // It dropped its shards, or the fence refused it; then it takes its share again.
  expect(await metric(two, 'millrace_lease_lost_total')).toBeGreaterThan(0)
  await expect.poll(() => Promise.all([one, two].map(owned)), { timeout: 30_000 }).toEqual([2, 2])
  held.close()
})
