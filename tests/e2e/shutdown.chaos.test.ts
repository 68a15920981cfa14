import { once } from 'node:events'
import { mkdtempDisposable } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DevEnv, Sink, type SinkAnswer } from '@millrace/dev-env'
import { Front } from '@millrace/server/front'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Client, clientOf } from './client.ts'
import { type Environment, PLAIN, ServerProcess } from './server-process.ts'

/* SIGTERM, one request and one call at a time; under load it is R6 of the chaos programs: contracts/ingest.md §11 [D140], §12 item 27; contracts/delivery.md §12 item 33. */

let folder: Awaited<ReturnType<typeof mkdtempDisposable>>
let sink: Sink
let environment: Environment

beforeEach(async () => {
  folder = await mkdtempDisposable(join(tmpdir(), 'millrace-shutdown-'))
  sink = await Sink.open()
  environment = { ...PLAIN, MILLRACE_DATA_DIR: folder.path, MILLRACE_SHUTDOWN_SECONDS: '1' }
})
afterEach(async () => {
  await sink[Symbol.asyncDispose]()
  await folder.remove()
})

describe('while a call to a destination has no answer', () => {
  test('/ready says why on open connections, new ones are refused, and the call is repeated by the next run', async () => {
    await using first = await ServerProcess.start({ ...environment, MILLRACE_SHUTDOWN_SECONDS: '1' })
    const client = clientOf(first.url, PLAIN['MILLRACE_OWNER_TOKEN']!)
    const { writeKey, destinationId } = await makeWebhook(client)
    sink.answer = () => new Promise(() => {})
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    expect(await get(`${first.url}/ready`, agent)).toEqual({ status: 200, body: { ready: true } })
    await client.call('POST', '/v1/track', { writeKey, messageId: 'm-1', userId: 'u' }, null)
    await sink.waitFor(1)

    first.signal('SIGTERM')
    await first.logged(/stopping/)
    expect(await get(`${first.url}/ready`, agent)).toEqual({
      status: 503,
      body: { ready: false, reason: 'shutting down' },
    })
    await expect(get(`${first.url}/ready`, new Agent())).rejects.toThrow('ECONNREFUSED')
    expect(await first.exited).toBe(0)
    agent.destroy()

    sink.answer = () => ({})
    await using second = await ServerProcess.start(environment)
    await sink.waitFor(2)
    await clientOf(second.url, PLAIN['MILLRACE_OWNER_TOKEN']!).untilOutcome('m-1', destinationId, 'delivered')
    expect(sink.received.map(({ json }) => json.messageId)).toEqual(['m-1', 'm-1'])
  })

  test('an answer within the time is taken, and nothing is repeated', async () => {
    await using env = await DevEnv.open()
    const { source } = await env.webhook()
    const answer = Promise.withResolvers<SinkAnswer>()
    env.sink.answer = () => answer.promise
    await env.send('/v1/track', { messageId: 'm-1', userId: 'u' }, source.writeKey)
    await env.sink.waitFor(1)
    const restarted = env.restart()
    answer.resolve({ status: 202 })
    await restarted

    await env.journey('m-1', 'delivered')
    await env.send('/v1/track', { messageId: 'm-2', userId: 'u' }, source.writeKey)
    await env.journey('m-2', 'delivered')
    expect(env.sink.received.map(({ json }) => json.messageId)).toEqual(['m-1', 'm-2'])
  })
})

test('a request in progress is answered, and what was acknowledged is delivered', async () => {
  await using env = await DevEnv.open()
  const { source } = await env.webhook()
  const body = JSON.stringify({ messageId: 'm-1', userId: 'u' })
  const { hostname, port } = new URL(env.url)
  const socket = connect(Number(port), hostname)
  const authorization = `Basic ${Buffer.from(`${source.writeKey}:`).toString('base64')}`
  const head = `POST /v1/track HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nExpect: 100-continue\r\n`
  socket.write(`${head}Content-Length: ${body.length}\r\n\r\n`)
  await once(socket, 'data') // 100 Continue: the request is in progress.
  socket.write(body.slice(0, 10))
  const restarted = env.restart()
  socket.write(body.slice(10))
  const answer = Buffer.concat(await socket.toArray()).toString()
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(answer).toMatch(/\r\n\r\nOK$/)
  await restarted
  await env.journey('m-1', 'delivered')
  expect(env.sink.received.map(({ json }) => json.messageId)).toEqual(['m-1'])
})

test('before the log is recovered /ready says so, and events are refused for the moment', async () => {
  const front = await Front.listen('127.0.0.1', 0)
  const url = `http://127.0.0.1:${front.address.port}`
  const ready = await fetch(`${url}/ready`)
  expect([ready.status, await ready.json()]).toEqual([503, { ready: false, reason: 'recovering log' }])
  const refused = await fetch(`${url}/v1/track`, { method: 'POST', body: '{}' })
  expect([refused.status, await refused.text()]).toEqual([503, 'Service unavailable'])
  expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  await front.stop(Promise.resolve(), Promise.resolve())
})

async function makeWebhook({ call }: Client): Promise<{ writeKey: string; destinationId: string }> {
  const { source } = (await call('POST', '/v2/sources', { name: 'Source', type: 'HTTP' })).json
  const config = { webhookUrl: `${sink.url}/hook` }
  const { destination } = (await call('POST', '/v2/destinations', { name: 'Hook', type: 'WEBHOOK', config })).json
  const joined = await call('POST', '/v2/connections', { sourceId: source.id, destinationId: destination.id })
  expect(joined.status).toBe(200)
  return { writeKey: source.writeKey, destinationId: destination.id }
}

async function get(url: string, agent: Agent): Promise<{ status: number; body: unknown }> {
  const outgoing = request(url, { agent }).end()
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  const body = Buffer.concat(await answer.toArray()).toString()
  return { status: answer.statusCode!, body: JSON.parse(body) }
}
