import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { basic, DISABLED_KEY, GatewayUnderTest, KEY, OTHER_KEY } from './gateway-under-test.ts'
import { basicUserName } from './write-key.ts'

let under: GatewayUnderTest
beforeAll(async () => {
  under = await GatewayUnderTest.start()
})
afterAll(() => under[Symbol.asyncDispose]())

const base64 = (text: string) => Buffer.from(text).toString('base64')

test('the user name of a Basic header is the write key, whatever the password', () => {
  const cases: [header: string, userName: string | undefined][] = [
    ['Basic M1BTM01LZ0ZoNlpUeERheFVqS0JzTGFVZzFyOg==', KEY],
    [`basic ${base64(`${KEY}:`)}`, KEY],
    [`BASIC   ${base64(`${KEY}:secret:with:colons`)}`, KEY],
    [`Basic ${base64(`${KEY}:`).replace(/=+$/, '')}`, KEY],
    [`Basic ${base64(`${KEY}:${'p'.repeat(1_000)}`)}`, KEY],
    [`Basic ${base64(':password')}`, undefined],
    [`Basic ${base64(`${KEY}:`)} more`, undefined],
    [`Bearer ${base64(`${KEY}:`)}`, undefined],
    [`Basic${base64(`${KEY}:`)}`, undefined],
    ['Basic', undefined],
    ['Basic ', undefined],
    ['Basic ====', undefined],
    ['', undefined],
  ]
  for (const [header, userName] of cases) {
    // Twice, for the second answer may come from memory.
    expect([header, basicUserName(header), basicUserName(header)]).toEqual([header, userName, userName])
  }
})

test('a key in the body alone works on every /v1 route, and is in no stored event', async () => {
  const event = { type: 'track', userId: 'u', properties: { writeKey: 'a property of that name stays' } }
  for (const path of [
    '/v1/identify',
    '/v1/track',
    '/v1/t',
    '/v1/merge',
    '/v1/batch',
    '/v1/b',
    '/v1/import',
    '/v1/backfill',
  ]) {
    const from = under.end()
    const body = /batch|b$|import|backfill/.test(path) ? { batch: [event] } : event
    expect((await under.sendJson(path, { ...body, writeKey: OTHER_KEY }, {})).status).toBe(200)
    const [stored, ...more] = await under.found(from)
    expect(more).toEqual([])
    expect(stored).toMatchObject({ sourceId: 'source-2', event: { properties: event.properties } })
    expect(stored!.event).not.toHaveProperty('writeKey')
  }
})

test('with a header too the header wins, even with no text in the body', async () => {
  for (const writeKey of [OTHER_KEY, 'nosuchkey', 7, null]) {
    const from = under.end()
    expect((await under.sendJson('/v1/track', { userId: 'u', writeKey })).text).toBe('OK')
    const [stored] = await under.found(from)
    expect(stored!.sourceId).toBe('source-1')
    expect(stored!.event).not.toHaveProperty('writeKey')
  }
})

test('a bad header is not made good by the body, and the query counts on beacon routes alone', async () => {
  const body = JSON.stringify({ type: 'track', userId: 'u', writeKey: KEY, batch: [{ type: 'track', userId: 'u' }] })
  const cases: [path: string, headers: Record<string, string>, status: number, text: string][] = [
    ['/v1/track', { Authorization: 'Digest x' }, 401, 'Failed to read writeKey from header'],
    ['/v1/track', { Authorization: 'Basic x' }, 401, 'Failed to read writeKey from header'],
    ['/v1/track', { Authorization: 'Bearerx' }, 401, 'Failed to read writeKey from header'],
    ['/v1/track', basic('nosuchkey'), 401, 'Invalid Write Key'],
    ['/beacon/v1/batch', basic(KEY), 401, 'Failed to read writeKey from Query Params'],
    [`/v1/batch?writeKey=${KEY}`, { Authorization: 'Digest x' }, 401, 'Failed to read writeKey from header'],
    [`/s/v1/batch?a=b&writeKey=${KEY}`, basic('nosuchkey'), 200, 'OK'],
  ]
  for (const [path, headers, status, text] of cases) {
    const answer = await under.send({ path, headers, body })
    expect([path, answer.status, answer.text]).toEqual([path, status, text])
  }
})

test('with a Bearer token of another service the key in the body counts', async () => {
  for (const Authorization of ['Bearer eyJhbGciOi.x.y', 'bearer x', 'Bearer']) {
    const from = under.end()
    const event = { type: 'track', userId: 'u' }
    for (const [path, body] of [
      ['/v1/track', event],
      ['/v1/batch', { batch: [event] }],
    ] as const) {
      expect((await under.sendJson(path, { ...body, writeKey: OTHER_KEY }, { Authorization })).text).toBe('OK')
      const without = await under.sendJson(path, body, { Authorization })
      expect([without.status, without.text]).toEqual([401, 'Failed to read writeKey from header'])
      const wrong = await under.sendJson(path, { ...body, writeKey: 'nosuchkey' }, { Authorization })
      expect([wrong.status, wrong.text]).toEqual([401, 'Invalid Write Key'])
    }
    expect((await under.found(from)).map(({ sourceId }) => sourceId)).toEqual(['source-2', 'source-2'])
  }
})

describe('a client that holds its body back (Expect: 100-continue)', () => {
  const head = (key: string, bytes: number) =>
    `POST /v1/track HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic(key)['Authorization']}\r\n` +
    `Expect: 100-continue\r\nContent-Length: ${bytes}\r\n\r\n`
  const body = '{"userId":"u"}'
  const times = (text: string, n: number) => new RegExp(`(?:${text}.*){${n}}`, 's')

  test('is refused before it sends anything: a wrong key, a disabled source, too large a body', async () => {
    const cases: [key: string, bytes: number, status: RegExp][] = [
      ['nosuchkey', 14, /^HTTP\/1.1 401 .*Invalid Write Key$/s],
      [DISABLED_KEY, 14, /^HTTP\/1.1 404 .*Source is disabled$/s],
      [KEY, 5_000_000, /^HTTP\/1.1 413 .*Request size exceeds max limit$/s],
    ]
    for (const [key, bytes, expected] of cases) {
      const { socket, answer } = under.connect()
      socket.write(head(key, bytes))
      const text = await answer
      expect(text).toMatch(expected)
      // The body that never came would be taken for the next request.
      expect(text).toMatch(/^Connection: close\r$/m)
    }
  })

  test('of HTTP/1.0 gets one answer: that version has no `100 Continue`, and the server ignores the header', async () => {
    const { socket, answer } = under.connect()
    socket.write(head(KEY, body.length).replace('HTTP/1.1', 'HTTP/1.0') + body)
    expect(await answer).toMatch(/^HTTP\/1.1 200 OK\r\n.*OK$/s)
  })

  test('is told to go on, and its connection stays', async () => {
    const { socket, until } = under.connect()
    for (const round of [1, 2]) {
      socket.write(head(KEY, body.length))
      await until(times('HTTP/1.1 100 Continue', round))
      socket.write(body)
      await until(times('HTTP/1.1 200 OK', round))
    }
    socket.destroy()
  })
})

test('disabling a source shows on the next request, and so does enabling it', async () => {
  await using other = await GatewayUnderTest.start()
  const known = other.sources.get(KEY)!
  for (const isEnabled of [true, false, true]) {
    other.sources.set(KEY, { ...known, isEnabled })
    const { status, text } = await other.send({ body: '{"userId":"u"}' })
    expect([status, text]).toEqual(isEnabled ? [200, 'OK'] : [404, 'Source is disabled'])
  }
})
