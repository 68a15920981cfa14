import { Agent } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { basic, GatewayUnderTest, KEY } from './gateway-under-test.ts'

let under: GatewayUnderTest
beforeAll(async () => {
  under = await GatewayUnderTest.start()
})
afterAll(() => under[Symbol.asyncDispose]())

const SINGLE_EVENT_PATHS = {
  identify: ['/v1/identify', '/v1/i'],
  track: ['/v1/track', '/v1/t'],
  page: ['/v1/page', '/v1/p'],
  screen: ['/v1/screen', '/v1/s'],
  group: ['/v1/group', '/v1/g'],
  alias: ['/v1/alias', '/v1/a'],
  merge: ['/v1/merge'],
}
const BATCH_PATHS = ['/v1/batch', '/v1/b', '/v1/import', '/v1/backfill', '/beacon/v1/batch', '/s/v1/batch']
const PIXEL_PATHS = ['/pixel/v1/track', '/pixel/v1/page']

describe('a single-event path', () => {
  for (const [type, paths] of Object.entries(SINGLE_EVENT_PATHS)) {
    for (const path of paths) {
      test(`${path} accepts a minimal event and stores its own type`, async () => {
        const from = under.end()
        const other = type === 'page' ? 'screen' : 'page'
        const answer = await under.sendJson(path, { userId: 'u', type: other })
        expect([answer.status, answer.text]).toEqual([200, 'OK'])
        expect(answer.headers).toMatchObject({
          'content-type': 'text/plain; charset=utf-8',
          'x-content-type-options': 'nosniff',
          'content-length': '2',
        })
        const [stored, ...more] = await under.found(from)
        expect(more).toEqual([])
        expect(stored).toMatchObject({ stream: 'live', sourceId: 'source-1', event: { type, userId: 'u' } })
      })
    }
  }

  test('takes the body whatever its content type says, and one trailing slash', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'nonsense', 'application/json']) {
      const headers = { ...basic(KEY), 'Content-Type': type }
      const answer = await under.send({ path: '/v1/track/', headers, body: '{"anonymousId":"a"}' })
      expect([answer.status, answer.text]).toEqual([200, 'OK'])
    }
  })
})

describe('a batch path', () => {
  for (const path of BATCH_PATHS) {
    test(`${path} stores every element in order, and the envelope's sentAt beside them`, async () => {
      const from = under.end()
      const byQuery = !path.startsWith('/v1')
      const answer = await under.send({
        path: byQuery ? `${path}?writeKey=${KEY}` : path,
        headers: { 'Content-Type': 'text/plain', ...(byQuery ? {} : basic(KEY)) },
        body: JSON.stringify({
          sentAt: '2026-03-04T09:20:01.000Z',
          channel: 'ignored',
          batch: [
            { type: 'identify', userId: 'u-88', messageId: 'm-1' },
            { type: 'screen', userId: 'u-88', messageId: 'm-2' },
            { type: 'merge', anonymousId: 'a', messageId: 'm-3' },
          ],
        }),
      })
      expect([answer.status, answer.text]).toEqual([200, path === '/v1/import' ? '{"success":true}' : 'OK'])
      const stored = await under.found(from)
      expect(stored.map(({ event }) => [event.messageId, event.type])).toEqual([
        ['m-1', 'identify'],
        ['m-2', 'screen'],
        ['m-3', 'merge'],
      ])
      for (const { stream, envelopeSentAt, event } of stored) {
        expect(stream).toBe(path === '/v1/backfill' ? 'backfill' : 'live')
        expect(envelopeSentAt).toBe('2026-03-04T09:20:01.000Z')
        expect(event).not.toHaveProperty('channel')
        expect(event).not.toHaveProperty('sentAt')
      }
    })
  }

  test('with X-Millrace-Priority: low is a backfill; any other value, and a single event, are live', async () => {
    const cases: [path: string, priority: string, stream: string][] = [
      ...BATCH_PATHS.map((path): [string, string, string] => [path, 'low', 'backfill']),
      ['/v1/batch', ' LOW ', 'backfill'],
      ['/v1/batch', 'high', 'live'],
      ['/v1/batch', '', 'live'],
      ['/v1/track', 'low', 'live'],
    ]
    for (const [path, priority, stream] of cases) {
      const from = under.end()
      const event = { type: 'track', userId: 'u' }
      const answer = await under.send({
        path: `${path}?writeKey=${KEY}`,
        headers: { ...basic(KEY), 'X-Millrace-Priority': priority },
        body: JSON.stringify(path === '/v1/track' ? event : { batch: [event] }),
      })
      expect([path, answer.status]).toEqual([path, 200])
      expect([path, priority, (await under.found(from)).map(({ stream }) => stream)]).toEqual([
        path,
        priority,
        [stream],
      ])
    }
  })

  test('merges context and integrations of the envelope into its events', async () => {
    const from = under.end()
    const context = { ip: '203.0.113.7', app: { name: 'Cinema', build: 7 } }
    const batch = [
      { type: 'track', userId: 'u' },
      { type: 'track', userId: 'u', context: { app: { build: 8 } }, integrations: { Webhook: true } },
    ]
    const body = { batch, context, integrations: { All: false } }
    expect((await under.sendJson('/v1/batch', body)).text).toBe('OK')
    const [first, second] = (await under.found(from)).map(({ event }) => event)
    expect(first).toMatchObject({ context, integrations: { All: false } })
    expect(second!['context']).toEqual({ ip: '203.0.113.7', app: { name: 'Cinema', build: 8 } })
    expect(second!['integrations']).toEqual({ All: false, Webhook: true })
  })

  test('keeps the order of one connection and of each batch', async () => {
    const from = under.end()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const sent = Array.from({ length: 40 }, (_, i) => [`${i}-a`, `${i}-b`])
    await Promise.all(
      sent.map((ids) => {
        const batch = ids.map((messageId) => ({ type: 'track', userId: 'u', messageId }))
        return under.send({ path: '/v1/batch', body: JSON.stringify({ batch }), agent })
      }),
    )
    agent.destroy()
    expect((await under.found(from)).map(({ event }) => event.messageId)).toEqual(sent.flat())
  })
})

describe('paths and methods', () => {
  test('a path that no contract names is not taken', async () => {
    // Of other servers, which no client that we run needs: decision 0092.
    const foreign = ['/v1/audiencelist', '/v1/retl', '/v1/replay', '/rsaRequest']
    const paths = ['/v1', '/v1/', '/v1/track//', '/v1/tracks', '/v1/m', '/V1/track', '/hooks', ...foreign]
    for (const path of [...paths, '/internal/v1/batch', '/beacon/v1/track', '/pixel/v1/identify', '/', '/v1/%74rack']) {
      expect([path, (await under.send({ path, body: '{"userId":"u"}' })).status]).toEqual([path, 404])
    }
  })

  test('another method gets 405 with Allow, and stores nothing', async () => {
    const from = under.end()
    const posts = [...Object.values(SINGLE_EVENT_PATHS).flat(), ...BATCH_PATHS]
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD']) {
      for (const path of posts) {
        const answer = await under.send({ method, path, ...(method === 'PUT' ? { body: '{"userId":"u"}' } : {}) })
        expect([answer.status, answer.headers.allow]).toEqual([405, 'POST'])
        expect(answer.text).toMatch(method === 'HEAD' ? /^$/ : /Method Not Allowed/)
      }
    }
    for (const path of PIXEL_PATHS) {
      const answer = await under.send({ method: 'POST', path, body: '{}' })
      expect([answer.status, answer.headers.allow, answer.text]).toEqual([405, 'GET, HEAD', 'Method Not Allowed'])
    }
    expect(await under.found(from)).toEqual([])
  })

  test('a request with a well-formed X-Request-Id gets it back, any other a new one', async () => {
    const given = (id: string) => under.send({ headers: { ...basic(KEY), 'X-Request-Id': id }, body: '{"userId":"u"}' })
    expect((await given('abc-1.2_3')).headers['x-request-id']).toBe('abc-1.2_3')
    expect((await given('not well formed')).headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect((await given('x'.repeat(129))).headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })
})
