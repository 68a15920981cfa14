import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { LogUnavailableError } from '@millrace/log'
import { ManualClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { basic, GatewayUnderTest, KEY } from './gateway-under-test.ts'

const UNAVAILABLE = [503, 'Service unavailable', '1']
const GOOD = '{"userId":"u"}'
const HEAD = `POST /v1/track HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic(KEY)['Authorization']}\r\n`

async function answerTo(under: GatewayUnderTest, body: string = GOOD) {
  const { status, text, headers } = await under.send({ body })
  return [status, text, headers['retry-after']]
}

/** A request whose answer waits in the log until `release` is called. */
async function held(under: GatewayUnderTest) {
  const { promise, resolve } = Promise.withResolvers<void>()
  under.appendsWaitFor = promise
  return { release: resolve }
}

/** Resolves once the gateway has so many requests in progress. */
async function inProgress(under: GatewayUnderTest, count: number) {
  while (under.gateway.requestsInProgress !== count) await new Promise((resolve) => setImmediate(resolve))
}

test('above the limit of requests the answer is 503, and those in progress finish with 200', async () => {
  await using under = await GatewayUnderTest.start({ limits: { maxConcurrentRequests: 3 } })
  const { release } = await held(under)
  const first = [answerTo(under), answerTo(under), answerTo(under)]
  await inProgress(under, 3)
  expect(await answerTo(under)).toEqual(UNAVAILABLE)
  // What is wrong otherwise is not looked at.
  expect((await under.send({ headers: {}, body: 'x' })).status).toBe(503)
  release()
  for (const answer of await Promise.all(first)) expect(answer).toEqual([200, 'OK', undefined])
  expect(await answerTo(under)).toEqual([200, 'OK', undefined])
  expect(under.gateway.requestsInProgress).toBe(0)
  expect(await under.found()).toHaveLength(4)
})

test('one address may have a quarter of the requests in progress, and others have the rest', async () => {
  const addressOf = ({ headers }: IncomingMessage) => headers['x-test-address'] as string | undefined
  await using under = await GatewayUnderTest.start({ limits: { maxConcurrentRequests: 9 }, addressOf })
  const { release } = await held(under)
  const from = async (address?: string) => {
    const headers = { ...basic(KEY), ...(address === undefined ? {} : { 'x-test-address': address }) }
    const { status, text, headers: answered } = await under.send({ body: GOOD, headers })
    return [status, text, answered['retry-after']]
  }
  const taken = [from('203.0.113.1'), from('203.0.113.1')]
  await inProgress(under, 2)
  expect(await from('203.0.113.1')).toEqual(UNAVAILABLE)
  const others = [from('203.0.113.2'), from('203.0.113.2'), from(), from(), from(), from(), from()]
  await inProgress(under, 9)
  expect(await from('203.0.113.3')).toEqual(UNAVAILABLE)
  release()
  for (const answer of await Promise.all([...taken, ...others])) expect(answer).toEqual([200, 'OK', undefined])
  expect(await from('203.0.113.1')).toEqual([200, 'OK', undefined])
  expect(Object.fromEntries(under.gateway.metrics.rejected)).toEqual({ address_share: 1, unavailable: 1 })
})

test('above the limit of bytes the answer is 503, and those in progress finish with 200', async () => {
  await using under = await GatewayUnderTest.start({ limits: { maxBodyBytesInProgress: 20_000 } })
  const large = JSON.stringify({ userId: 'u', text: 'x'.repeat(30_000) })
  const { socket, until } = under.connect()
  socket.write(`${HEAD}Content-Length: ${large.length}\r\n\r\n${large.slice(0, 25_000)}`)
  await inProgress(under, 1)
  // Its bytes come right after its header.
  while ((await answerTo(under))[0] !== 503);
  expect(await answerTo(under)).toEqual(UNAVAILABLE)
  socket.write(large.slice(25_000))
  expect(await until(/OK$/)).toMatch(/^HTTP\/1\.1 200 /)
  expect(await answerTo(under)).toEqual([200, 'OK', undefined])
  socket.destroy()
})

test('bodies that all go on growing are refused before they fill the memory', async () => {
  await using under = await GatewayUnderTest.start({ limits: { maxBodyBytes: 100_000, maxBodyBytesInProgress: 1 } })
  const connections = Array.from({ length: 40 }, () => under.connect())
  for (const { socket } of connections) socket.write(`${HEAD}Content-Length: 90000\r\n\r\n`)
  await inProgress(under, 40)
  // Room for 16 bodies of full size; the others are refused when they come to it.
  for (const { socket } of connections) socket.write(' '.repeat(80_000))
  const refused = connections.map(async ({ socket, until }) => {
    await until(/503 Service Unavailable/)
    socket.destroy()
  })
  const settled = Promise.allSettled(refused)
  await inProgress(under, 20)
  for (const { socket } of connections) socket.destroy()
  await settled
  await inProgress(under, 0)
  expect(await answerTo(under)).toEqual([200, 'OK', undefined])
})

test('an obstacle refuses every request, with its own Retry-After, and ends by itself', async () => {
  await using under = await GatewayUnderTest.start()
  for (const retryAfterSeconds of [30, 1]) {
    under.obstacle = { retryAfterSeconds }
    expect(await answerTo(under)).toEqual([503, 'Service unavailable', String(retryAfterSeconds)])
    expect(await under.found()).toEqual([])
  }
  under.obstacle = undefined
  expect(await answerTo(under)).toEqual([200, 'OK', undefined])
})

test('what the log refuses gets 503 and is neither counted nor found', async () => {
  await using under = await GatewayUnderTest.start()
  under.appendsFailWith = new LogUnavailableError('disk full')
  expect(await answerTo(under)).toEqual(UNAVAILABLE)
  expect([...under.gateway.metrics.events()]).toEqual([])
  expect(await under.found()).toEqual([])
  under.appendsFailWith = undefined
  expect(await answerTo(under)).toEqual([200, 'OK', undefined])
})

test('a body that is not complete after 30 s gets 408, and the connection is closed', async () => {
  const clock = new ManualClock(0)
  await using under = await GatewayUnderTest.start({ clock })
  const waiting = [
    `${HEAD}Content-Length: 20\r\n\r\n{"userId"`,
    `${HEAD}Content-Length: 20\r\n\r\n`,
    `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\n{"use\r\n`,
  ].map((text) => {
    const connection = under.connect()
    connection.socket.write(text)
    return connection
  })
  await inProgress(under, 3)
  expect(await answerTo(under)).toEqual([200, 'OK', undefined])
  await clock.advance(29_000)
  expect(under.gateway.requestsInProgress).toBe(3)
  await clock.advance(1_100)
  for (const { until } of waiting) expect(await until(/Request timeout$/)).toMatch(/^HTTP\/1\.1 408 /)
  await clock.advance(1_100)
  for (const { answer } of waiting)
    expect(await answer).toMatch(/^HTTP\/1\.1 408 .*connection: close.*Request timeout$/is)
  expect(await under.found()).toHaveLength(1)
})

test('a client that goes away in the midst of its body leaves nothing behind', async () => {
  await using under = await GatewayUnderTest.start({ clock: new ManualClock(0) })
  const part = `${HEAD}Content-Length: 20\r\n\r\n{"userId"`
  const ways: ((socket: Socket) => void)[] = [
    (socket) => socket.end(part),
    (socket) => socket.write(part, () => socket.end()),
    (socket) => socket.write(part, () => socket.resetAndDestroy()),
  ]
  for (const leave of ways) {
    const gone = Array.from({ length: 20 }, () => {
      const { socket, answer } = under.connect()
      leave(socket)
      return answer
    })
    await Promise.all(gone)
    await inProgress(under, 0)
  }
  expect(await under.found()).toEqual([])
})
