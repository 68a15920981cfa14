import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { GatewaySource } from './gateway-source.ts'
import { basic, GatewayUnderTest, KEY, LIMITS } from './gateway-under-test.ts'

const NOW = Date.parse('2026-03-04T09:15:30.000Z')
const SECRET = "It's a Secret to Everybody"
const NO_PATHS = { event: '', userId: '', anonymousId: '', messageId: '' }
const PATHS = { event: 'type', userId: 'customer', anonymousId: '', messageId: 'id' }

let secret: string | undefined = SECRET
const source = (webhook: GatewaySource['webhook']): GatewaySource => ({
  id: 'hooks',
  isEnabled: true,
  partition: 0,
  orderShards: 1,
  rateLimitEventsPerMinute: 0,
  ...(webhook && { webhook }),
})
const signed = (scheme: 'github' | 'stripe' | 'shopify') =>
  source({ paths: NO_PATHS, signature: { scheme, secret: () => secret } })

let under: GatewayUnderTest
beforeAll(async () => {
  under = await GatewayUnderTest.start({
    clock: { now: () => NOW, monotonic: () => performance.now(), setTimer: () => ({ cancel() {} }) } as never,
    sources: {
      plain: source({ paths: PATHS }),
      github: signed('github'),
      stripe: signed('stripe'),
      shopify: signed('shopify'),
    },
  })
})
afterAll(() => under[Symbol.asyncDispose]())

const post = async (path: string, body: string | Buffer, headers: Record<string, string> = {}) => {
  const { status, text, headers: answered } = await under.send({ path, body, headers })
  return [status, text, answered['x-millrace-event-index']]
}

describe('a webhook', () => {
  test('comes in by the key in the query or in the path, as an object or an array', async () => {
    for (const path of ['/v1/webhook?writeKey=plain', '/hooks/plain', '/hooks/plain/', '/hooks/pl%61in?x=1']) {
      const from = under.end()
      const body = '{"id":"evt_1","type":"invoice.paid","customer":"c-1"}'
      expect([path, ...(await post(path, body))]).toEqual([path, 200, 'OK', undefined])
      expect((await post(path, `[${body},{"type":"x"}]`))[0]).toBe(200)
      const found = await under.found(from)
      expect(found.map(({ stream, event }) => [stream, event.type, event['event'], event.userId])).toEqual([
        ['live', 'track', 'invoice.paid', 'c-1'],
        ['live', 'track', 'invoice.paid', 'c-1'],
        ['live', 'track', 'x', undefined],
      ])
      expect(found[0]!.event).toMatchObject({ messageId: 'evt_1', properties: JSON.parse(body) })
    }
  })

  test('may be as large as a body; what cannot be an event is refused whole', async () => {
    const nest = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
    const cases: [body: string, status: number, text: string, index?: string][] = [
      [JSON.stringify({ pad: 'x'.repeat(1_000_000) }), 200, 'OK'],
      ['', 400, 'Request body is nil'],
      ['7', 400, 'Invalid JSON'],
      ['{', 400, 'Invalid JSON'],
      ['null', 400, 'Invalid JSON'],
      ['[]', 400, 'Empty batch payload'],
      ['[{},7]', 400, 'Batch element is not a valid event', '1'],
      ['[{},[]]', 400, 'Batch element is not a valid event', '1'],
      [nest(199), 200, 'OK'],
      [nest(200), 400, 'Event nesting exceeds 200 levels', '0'],
      [`[{},${nest(199)}]`, 200, 'OK'],
      [`[{},${nest(200)}]`, 400, 'Event nesting exceeds 200 levels'],
      ['['.repeat(100_000), 400, 'Event nesting exceeds 200 levels'],
      [`[${'{},'.repeat(LIMITS.maxBatchEvents)}{}]`, 413, 'Batch has too many events'],
    ]
    for (const [body, status, text, index] of cases) {
      const answer = await post('/hooks/plain', body)
      expect([body.slice(0, 40), ...answer.slice(0, 2)]).toEqual([body.slice(0, 40), status, text])
      if (index !== undefined) expect(answer[2]).toBe(index)
    }
  })

  test('only a source of webhooks takes them, and it takes nothing else', async () => {
    const from = under.end()
    const wrong = [404, 'Source does not take this route', undefined]
    expect(await post(`/hooks/${KEY}`, '{}')).toEqual(wrong)
    expect(await post(`/v1/webhook?writeKey=${KEY}`, '{}')).toEqual(wrong)
    expect(await post('/v1/track', '{"userId":"u"}', basic('plain'))).toEqual(wrong)
    expect(await post('/v1/track', '{"userId":"u","writeKey":"plain"}')).toEqual(wrong)
    expect(await post('/beacon/v1/batch?writeKey=plain', '{"batch":[{"type":"page","userId":"u"}]}')).toEqual(wrong)
    const pixel = await under.send({ method: 'GET', path: '/pixel/v1/page?writeKey=plain&userId=u', headers: {} })
    expect(pixel.headers['x-millrace-error']).toBe('Source does not take this route')
    expect(await post('/hooks/nosuchkey', '{}')).toEqual([401, 'Invalid Write Key', undefined])
    expect(await post('/hooks/%', '{}')).toEqual([401, 'Invalid Write Key', undefined])
    expect(await post('/v1/webhook', '{}')).toEqual([401, 'Failed to read writeKey from Query Params', undefined])
    expect((await post('/hooks', '{}'))[0]).toBe(404)
    expect((await post('/hooks/a/b', '{}'))[0]).toBe(404)
    expect(await under.found(from)).toEqual([])
  })
})

describe('a signature', () => {
  const refused = [401, 'Invalid webhook signature', undefined]
  const hmac = (text: string, encoding: 'hex' | 'base64', key = SECRET) =>
    createHmac('sha256', key).update(text).digest(encoding)
  const body = 'Hello, World!'
  const json = '{"a":"ä"}'

  test('of GitHub: the example of its documentation, and bytes as they were sent', async () => {
    // The documentation gives secret, payload and digest; the payload is no JSON, so the signature passes and the parser refuses.
    const documented = {
      'X-Hub-Signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    }
    expect(await post('/hooks/github', body, documented)).toEqual([400, 'Invalid JSON', undefined])
    expect(await post('/hooks/github', json, documented)).toEqual(refused)
    expect(await post('/hooks/github', json, { 'X-Hub-Signature-256': `sha256=${hmac(json, 'hex')}` })).toEqual([
      200,
      'OK',
      undefined,
    ])
    for (const given of [
      '',
      'sha256=',
      `sha1=${hmac(json, 'hex')}`,
      hmac(json, 'hex'),
      `sha256=${hmac(json, 'hex', 'other')}`,
    ]) {
      expect(await post('/hooks/github', json, { 'X-Hub-Signature-256': given })).toEqual(refused)
    }
    expect(await post('/hooks/github', json)).toEqual(refused)
  })

  test('of Shopify: base64', async () => {
    expect(await post('/hooks/shopify', json, { 'X-Shopify-Hmac-Sha256': hmac(json, 'base64') })).toEqual([
      200,
      'OK',
      undefined,
    ])
    expect(await post('/hooks/shopify', json, { 'X-Shopify-Hmac-Sha256': hmac(json, 'hex') })).toEqual(refused)
    expect(await post('/hooks/shopify', `${json} `, { 'X-Shopify-Hmac-Sha256': hmac(json, 'base64') })).toEqual(refused)
  })

  test('of Stripe: with its time, of the last five minutes, and any of several', async () => {
    const at = Math.floor(NOW / 1000)
    const sign = (time: number, key = SECRET) => hmac(`${time}.${json}`, 'hex', key)
    const cases: [header: string, isGood: boolean][] = [
      [`t=${at},v1=${sign(at)},v0=${'0'.repeat(64)}`, true],
      [`t=${at}, v1=${sign(at, 'old')}, v1=${sign(at)}`, true],
      [`t=${at - 300},v1=${sign(at - 300)}`, true],
      [`t=${at - 301},v1=${sign(at - 301)}`, false],
      [`t=${at + 301},v1=${sign(at + 301)}`, false],
      [`t=${at},v1=${sign(at - 1)}`, false],
      [`t=${at},v0=${sign(at)}`, false],
      [`v1=${sign(at)}`, false],
      ['', false],
    ]
    for (const [header, isGood] of cases) {
      const answer = await post('/hooks/stripe', json, { 'Stripe-Signature': header })
      expect([header, ...answer]).toEqual([header, ...(isGood ? [200, 'OK', undefined] : refused)])
    }
  })

  test('is refused when the secret is not there', async () => {
    secret = undefined
    const header = { 'X-Hub-Signature-256': `sha256=${hmac(json, 'hex', '')}` }
    expect(await post('/hooks/github', json, header)).toEqual(refused)
    secret = ''
    expect(await post('/hooks/github', json, header)).toEqual(refused)
    secret = SECRET
  })
})
