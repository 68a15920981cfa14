import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answer, basic, GatewayUnderTest, KEY } from '../gateway-under-test.ts'

let under: GatewayUnderTest
beforeAll(async () => {
  under = await GatewayUnderTest.start()
})
afterAll(() => under[Symbol.asyncDispose]())

const ORIGINS = [
  'null',
  'app://localhost',
  'https://localhost',
  'http://localhost',
  'ionic://localhost',
  'capacitor://localhost',
  'https://shop.example:8443',
]
const PATHS = [
  '/v1/track',
  '/v1/t',
  '/v1/batch',
  '/v1/backfill',
  '/beacon/v1/batch',
  '/s/v1/batch',
  '/pixel/v1/page',
  '/v1/pixel/page',
  '/api/s/page',
]

function expectReadable({ headers }: Answer, origin: string): void {
  expect(headers).toMatchObject({
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    vary: 'Origin',
  })
  const exposed = headers['access-control-expose-headers']!.split(/, */)
  const wanted = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After', 'X-Request-Id']
  expect(exposed).toEqual(expect.arrayContaining([...wanted, 'X-Millrace-Event-Index', 'ETag']))
}

test('a preflight from any origin is granted on every route', async () => {
  for (const origin of ORIGINS) {
    for (const path of PATHS) {
      const answer = await under.send({
        method: 'OPTIONS',
        path,
        headers: {
          Origin: origin,
          'Access-Control-Request-Method': 'POST',
          'Access-Control-Request-Headers': 'authorization, content-type, x-any',
        },
      })
      expect([answer.status, answer.text]).toEqual([204, ''])
      expectReadable(answer, origin)
      expect(answer.headers).toMatchObject({
        'access-control-allow-methods': 'GET, POST, HEAD',
        'access-control-allow-headers': 'authorization, content-type, x-any',
        'access-control-max-age': '900',
      })
      expect(answer.headers).not.toHaveProperty('access-control-allow-private-network')
    }
  }
})

test('access to a private network is granted when asked for', async () => {
  const headers = { Origin: 'https://a.example', 'Access-Control-Request-Private-Network': 'true' }
  const answer = await under.send({ method: 'OPTIONS', headers })
  expect(answer.headers['access-control-allow-private-network']).toBe('true')
  expect(answer.headers).not.toHaveProperty('access-control-allow-headers')
})

test('the origin is reflected on 200 and on every kind of refusal', async () => {
  const good = '{"userId":"u"}'
  for (const Origin of ORIGINS) {
    const answers: [number, Answer][] = [
      [200, await under.send({ headers: { ...basic(KEY), Origin }, body: good })],
      [200, await under.send({ method: 'GET', path: '/pixel/v1/page?writeKey=x', headers: { Origin } })],
      [401, await under.send({ headers: { ...basic('nosuchkey'), Origin }, body: good })],
      [400, await under.send({ headers: { ...basic(KEY), Origin }, body: '{' })],
      [405, await under.send({ method: 'PUT', headers: { ...basic(KEY), Origin }, body: good })],
      [
        413,
        await under.send({
          headers: { ...basic(KEY), Origin },
          body: 'x'.repeat(40_000).replace(/.*/, '{"userId":"u","x":"$&"}'),
        }),
      ],
    ]
    under.obstacle = { retryAfterSeconds: 30 }
    answers.push([503, await under.send({ headers: { ...basic(KEY), Origin }, body: good })])
    under.obstacle = undefined
    for (const [status, answer] of answers) {
      expect(answer.status).toBe(status)
      expectReadable(answer, Origin)
      expect(answer.headers['x-content-type-options']).toBe('nosniff')
    }
  }
})

test('a request without an origin gets no such headers', async () => {
  const { headers } = await under.send({ body: '{"userId":"u"}' })
  expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
})
