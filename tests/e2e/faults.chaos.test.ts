import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Sink } from '@millrace/dev-env'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { clientOf } from './client.ts'
import { type Environment, PLAIN, ServerProcess } from './server-process.ts'

/* Faults of our own: decision 0070; contracts/ingest.md §8. Under load it is R13 of the chaos programs. */

const IS_FULL = process.env['FULL'] !== undefined
const TOKEN = PLAIN['MILLRACE_OWNER_TOKEN']!
let folder: Awaited<ReturnType<typeof mkdtempDisposable>>
let environment: Environment

beforeEach(async () => {
  folder = await mkdtempDisposable(join(tmpdir(), 'millrace-faults-'))
  // Delivery threads lose their ports to a thread that ends: that is no fault of theirs.
  environment = { ...PLAIN, MILLRACE_DATA_DIR: folder.path, MILLRACE_DELIVERY_THREADS: '2' }
})
afterEach(() => folder.remove())

/** A server with a source and a webhook to a sink that answers nothing until it is told to. */
async function withWebhook(sink: Sink) {
  const server = await ServerProcess.start(environment, { canBeTold: true })
  const client = clientOf(server.url, TOKEN)
  const { source } = (await client.call('POST', '/v2/sources', { name: 'Source', type: 'HTTP' })).json
  const config = { webhookUrl: `${sink.url}/hook` }
  const { destination } = (await client.call('POST', '/v2/destinations', { name: 'Hook', type: 'WEBHOOK', config }))
    .json
  await client.call('POST', '/v2/connections', { sourceId: source.id, destinationId: destination.id })
  const send = (messageId: string) =>
    client.call('POST', '/v1/track', { writeKey: source.writeKey, messageId, userId: messageId }, null)
  return { server, client, send, destinationId: destination.id as string }
}

const FAULTS = [
  ['delivery', { end: 'delivery' }, 'the delivery thread ended', 'thread delivery ended'],
  ['an exception', { throwUnhandled: 'exception' }, 'an unexpected error', 'an exception of a test'],
  ['log', { end: 'log' }, 'the log thread ended', 'thread log ended'],
  ['catalog', { end: 'catalog' }, 'the schema catalog thread ended', 'thread catalog ended'],
  ['a rejection', { throwUnhandled: 'rejection' }, 'an unexpected error', 'a rejection of a test'],
] as const

test.each(FAULTS.slice(0, IS_FULL ? undefined : 2))(
  '%s: the server says so, accepts nothing, and ends with 70; what it acknowledged arrives later',
  async (...row) => {
    const [, message, what, cause] = row
    await using sink = await Sink.open()
    const { server, send, destinationId } = await withWebhook(sink)
    await using _ = server
    // The catalog counts it, so its thread is there.
    expect((await send('m-1')).status).toBe(200)
    await sink.waitFor(1)
    await clientOf(server.url, TOKEN).untilOutcome('m-1', destinationId, 'delivered')

    const toldAt = performance.now()
    server.tell(message)
    await server.logged(/internal fault: the process ends/)
    const ready = await fetch(`${server.url}/ready`)
    expect([ready.status, await ready.json()]).toEqual([503, { ready: false, reason: 'ending after a fault' }])
    const health = await fetch(`${server.url}/health`)
    expect([health.status, await health.json()]).toMatchObject([
      503,
      { server: 'DOWN', db: 'DOWN', acceptingEvents: 'FALSE' },
    ])
    expect((await send('refused')).status).toBe(503)

    expect(await server.exited).toBe(70)
    expect(performance.now() - toldAt).toBeLessThan(5_000)
    const lines = server.stderr.trimEnd().split('\n')
    expect(lines.at(-1)).toBe(`Millrace ended: ${what}. All acknowledged events are on disk; start it again.`)
    const told = lines
      .filter((line) => line.includes('internal fault: the process ends'))
      .map((line) => JSON.parse(line))
    expect(told).toMatchObject([{ level: 60, err: { message: cause } }])

    await using again = await ServerProcess.start(environment)
    const client = clientOf(again.url, TOKEN)
    await client.untilOutcome('m-1', destinationId, 'delivered')
    expect(sink.received.map(({ json }) => json.messageId)).toEqual(['m-1'])
  },
)

const THREADS = [
  ['log', 'the log thread ended'],
  ['delivery', 'the delivery thread ended'],
  ['delivery-2', 'delivery thread 2 ended'],
] as const

test.each(THREADS.slice(0, IS_FULL ? undefined : 1))(
  '%s ends while the server starts: it says so and ends with 70, and the next start works',
  async (thread, what) => {
    await using server = new ServerProcess({ ...environment, END_THREAD_AT_START: thread }, { canBeTold: true })
    expect(await server.exited, server.stderr).toBe(70)
    const last = server.stderr.trimEnd().split('\n').at(-1)
    expect(last).toBe(`Millrace ended: ${what}. All acknowledged events are on disk; start it again.`)
    expect(server.stdout).not.toContain('is ready')

    await using again = await ServerProcess.start(environment)
    expect(await again.stop()).toBe(0)
  },
)

test('while outcomes cannot be recorded none is shown, and the event is delivered again after the start', async () => {
  await using sink = await Sink.open()
  const { server, send, destinationId } = await withWebhook(sink)
  await using _ = server
  await send('m-1')
  await sink.waitFor(1)
  const answer = Promise.withResolvers<object>()
  sink.answer = () => answer.promise
  await send('m-2')
  await sink.waitFor(2)
  server.tell({ end: 'delivery' })
  await server.logged(/internal fault: the process ends/)
  answer.resolve({ status: 200 })
  expect(await server.exited).toBe(70)

  sink.answer = () => ({})
  await using again = await ServerProcess.start(environment)
  await clientOf(again.url, TOKEN).untilOutcome('m-2', destinationId, 'delivered')
  expect(sink.received.filter(({ json }) => json.messageId === 'm-2')).toHaveLength(2)
})

test('a thread that only reads starts again, and /health says so once it ends again and again', async () => {
  await using sink = await Sink.open()
  const { server, client, send } = await withWebhook(sink)
  await using _ = server
  await send('m-1')
  const readers = async () => {
    const health = (await (await fetch(`${server.url}/health`)).json()) as { checks: { readers: string } }
    return health.checks.readers
  }
  for (const ends of [1, 2, 3]) {
    const { json } = await client.call('GET', '/v2/events')
    expect(json.events).toMatchObject([{ messageId: 'm-1' }])
    expect(await readers()).toBe('ok')
    server.tell({ end: 'events' })
    await expect.poll(() => server.stderr.match(/a read-only thread ended/g)?.length ?? 0).toBe(ends)
  }
  expect(await readers()).toBe('thread events ended 3 times within a minute')
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
  expect((await client.call('GET', '/v2/events')).json.events).toHaveLength(1)
})
