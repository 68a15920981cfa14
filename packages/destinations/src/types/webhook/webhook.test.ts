import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject, StoredEvent } from '@millrace/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'
import { toWire } from '../../requests/wire.ts'
import { runTransform } from '../../run-transform.ts'
import { destination } from './webhook.ts'

// What webhook.cases.ts cannot say; every-type.test.ts runs the cases.

const metadata = { sourceId: 's-1', destinationId: 'd-1', destinationName: 'Seats', messageId: 'm-88' }
const text = fc.string({ unit: 'binary' })
const token = fc.stringMatching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,12}$/)
const members = fc.dictionary(text, fc.jsonValue(), { maxKeys: 5, noNullPrototype: true })
const anyEvent = fc
  .record(
    {
      type: fc.constantFrom('identify', 'track', 'page', 'screen', 'group', 'alias'),
      context: fc.oneof(members, fc.jsonValue()),
      properties: members,
      traits: members,
      header: members,
      fullPath: fc.oneof(text, fc.webUrl()),
      appendPath: text,
      request_ip: text,
    },
    { requiredKeys: ['type'] },
  )
  // Through text once: it has no -0.
  .map((event) => JSON.parse(JSON.stringify(event)) as JsonObject)
const anyMethod = fc.constantFrom('POST', 'put', 'Patch', 'GET', 'delete')

function requestOf(event: JsonObject, config: JsonObject): RequestObject {
  const result = runTransform(destination, event as StoredEvent, config, metadata)
  if ('error' in result) throw new Error(result.error)
  expect(result.requests).toHaveLength(1)
  return result.requests[0]!
}

test('the definition names exactly the three variables that are given', () => {
  expect(destination.definition.defaultConfig).toEqual(['webhookUrl', 'webhookMethod', 'headers'])
})

describe('a path from integrations', () => {
  const webhookUrl = 'https://hooks.cinema.example/in'
  const endpointFor = (integrations: JsonObject, more: JsonObject = {}) =>
    requestOf({ type: 'track', integrations, ...more }, { webhookUrl }).endpoint
  const to = (appendPath: string) => ({ appendPath })

  test('is found by id, then name, then type; the first of them decides', () => {
    const all = { 'd-1': to('/id'), Seats: to('/name'), Webhook: to('/type') }
    expect(endpointFor(all)).toBe(`${webhookUrl}/id`)
    expect(endpointFor({ ...all, 'd-1': true })).toBe(webhookUrl)
    expect(endpointFor({ Seats: all.Seats, Webhook: all.Webhook })).toBe(`${webhookUrl}/name`)
    expect(endpointFor({ Webhook: all.Webhook })).toBe(`${webhookUrl}/type`)
    for (const other of ['webhook', 'WEBHOOK', 'All', 'Other'])
      expect(endpointFor({ [other]: to('/x') })).toBe(webhookUrl)
  })

  test('goes before the members of the event', () => {
    const members = { fullPath: 'https://seats.cinema.example/', appendPath: '/event' }
    expect(endpointFor({ Webhook: to('/own') }, members)).toBe(`${webhookUrl}/own`)
    expect(endpointFor({ Webhook: true }, members)).toBe('https://seats.cinema.example//event')
  })

  test('never changes the host, whatever the texts are', () => {
    const part = fc.oneof(
      text,
      fc.webUrl(),
      fc.constantFrom('//evil.example', '@evil.example', '\\', ':1', '\t//x', '/..//x'),
    )
    const address = fc.constantFrom(
      'https://hooks.cinema.example',
      `${webhookUrl}?a=1`,
      'http://ada:pw@127.0.0.1:8080/x/',
    )
    fc.assert(
      fc.property(address, part, part, (webhookUrl, fullPath, appendPath) => {
        const event = { type: 'track', integrations: { Webhook: { fullPath, appendPath } } } as unknown as StoredEvent
        const result = runTransform(destination, event, { webhookUrl }, metadata)
        if ('error' in result) return
        const sent = URL.parse(result.requests[0]!.endpoint)
        expect(sent?.origin).toBe(new URL(webhookUrl).origin)
      }),
    )
  })
})

test('any event gives a request of exactly the given members, and is itself unchanged', () => {
  fc.assert(
    fc.property(anyEvent, anyMethod, (event, webhookMethod) => {
      const before = JSON.stringify(event)
      const request = requestOf(event, { webhookUrl: 'https://hooks.cinema.example/in', webhookMethod })
      expect(JSON.stringify(event)).toBe(before)
      const shape = requestObject({ method: '', endpoint: '' })
      expect(Object.keys(request)).toEqual(Object.keys(shape))
      expect(Object.keys(request.body)).toEqual(Object.keys(shape.body))
      expect(JSON.parse(JSON.stringify(request))).toStrictEqual(request)
      for (const name of ['header', 'fullPath', 'appendPath']) expect(request.body.JSON).not.toHaveProperty(name)
    }),
  )
})

test('any event that leaves address and headers alone can be sent', () => {
  const headers = fc.dictionary(token, fc.stringMatching(/^[!-~]{0,20}$/), { noNullPrototype: true })
  const query = fc.constantFrom('', '?', '?a=b', '?a=b&', '#top')
  fc.assert(
    fc.property(anyEvent, anyMethod, headers, query, (event, webhookMethod, given, end) => {
      const { fullPath: _, appendPath: __, header: ___, ...plain } = event
      const config = { webhookUrl: `https://hooks.cinema.example/in${end}`, webhookMethod, headers: given }
      const wire = toWire(requestOf(plain, config), 'Millrace/1.2.3')
      expect(new URL(wire.url).host).toBe('hooks.cinema.example')
      expect(wire.url).toMatch(/^[!-~]+$/)
      // As a list: of an object, Request leaves out a member named `__proto__`.
      const headerList = Object.entries(wire.headers)
      const sent = new Request(wire.url, { method: wire.method, headers: headerList, body: wire.body || null })
      expect([...sent.headers.keys()].toSorted()).toEqual(
        Object.keys(wire.headers)
          .map((name) => name.toLowerCase())
          .toSorted(),
      )
      if (wire.body !== '') expect(JSON.parse(wire.body)).toEqual(withoutNulls(withIp(plain)))
    }),
  )
})

test('no event takes a configured secret to another place than the configured one', () => {
  const piece = fc.constantFrom(
    'https:',
    '//',
    '/',
    '\\',
    '@',
    ':',
    '.',
    '?',
    '#',
    'hooks.cinema.example',
    'evil',
    '\t',
    ' ',
  )
  const path = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''))
  const addresses = fc.constantFrom(
    'https://hooks.cinema.example',
    'https://hooks.cinema.example/in',
    'https://ada:s3cret@hooks.cinema.example',
    'https://ada:s3cret@hooks.cinema.example/in',
  )
  fc.assert(
    fc.property(addresses, path, path, (webhookUrl, fullPath, appendPath) => {
      const config = { webhookUrl, headers: { Authorization: 'Bearer 7Hq2' }, signingSecret: 'a-secret-for-signing' }
      const { endpoint, headers } = requestOf({ type: 'track', fullPath, appendPath }, config)
      const signed = destination.sign!({ url: endpoint, body: '' }, config, 1)
      const areSent = 'authorization' in headers
      expect('millrace-signature' in signed).toBe(areSent)
      if (endpoint === webhookUrl) expect(areSent).toBe(true)
      const to = URL.parse(endpoint)
      if (to === null) {
        expect(areSent).toBe(false)
        return
      }
      const home = new URL(webhookUrl)
      const isHome = to.origin === home.origin && `${to.pathname}/`.startsWith(home.pathname.replace(/\/*$/, '/'))
      if (!isHome) expect({ areSent, leaks: endpoint.includes('s3cret') }).toEqual({ areSent: false, leaks: false })
    }),
    { numRuns: 2_000 },
  )
})

describe('the signature', () => {
  const url = 'https://hooks.cinema.example/in'
  const config = { webhookUrl: url, signingSecret: 'a-secret-for-signing' }
  const request = requestOf({ type: 'track', event: 'Ça — 座席' }, config)
  const { body } = toWire(request, 'Millrace/1.2.3')

  test('is made with the secret over time and body bytes', () => {
    const bytes = Buffer.concat([Buffer.from('1772615731.'), Buffer.from(body)])
    const digest = createHmac('sha256', 'a-secret-for-signing').update(bytes).digest('hex')
    expect(destination.sign!({ url, body }, config, 1_772_615_731)).toEqual({
      'millrace-signature': `t=1772615731,v1=${digest}`,
    })
  })

  test('goes to configured places only', () => {
    const isSigned = (address: string, more: JsonObject = {}) =>
      'millrace-signature' in destination.sign!({ url: address, body }, { ...config, ...more }, 1)
    expect(isSigned(`${url}/profiles`)).toBe(true)
    expect(isSigned(`${url}?plan=gold`)).toBe(true)
    expect(isSigned('https://hooks.cinema.example/other')).toBe(false)
    expect(isSigned('https://seats.cinema.example/in')).toBe(false)
    expect(isSigned('https://seats.cinema.example/in', { allowedHosts: ['seats.cinema.example'] })).toBe(true)
  })

  test('is not part of the request object', () => {
    expect(request.headers).toEqual({ 'content-type': 'application/json' })
  })

  test.each([undefined, null, '', 7])('is left out when signingSecret is %s', (signingSecret) => {
    expect(destination.sign!({ url, body }, { signingSecret } as JsonObject, 1)).toEqual({})
  })

  test('is accepted by the check that the guide shows, and by nothing else', async () => {
    const guide = readFileSync(join(import.meta.dirname, '../../../../../docs/destinations/webhook.md'), 'utf8')
    const code = /```js\n(.*?)```/s.exec(guide)![1]!
    const { isFromMillrace } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
      isFromMillrace(signature: string, body: Buffer, secret: string, nowSeconds: number): boolean
    }
    const signature = destination.sign!({ url, body }, config, 1_000)['millrace-signature']!
    const bytes = Buffer.from(body)
    const secret = config.signingSecret
    expect(isFromMillrace(signature, bytes, secret, 1_010)).toBe(true)
    expect(isFromMillrace(signature, bytes, secret, 1_301)).toBe(false)
    expect(isFromMillrace(signature.replace('t=1000', 't=1001'), bytes, secret, 1_010)).toBe(false)
    expect(isFromMillrace(signature, Buffer.from(`${body} `), secret, 1_010)).toBe(false)
    expect(isFromMillrace(signature, bytes, 'another-secret-to-sign', 1_010)).toBe(false)
    for (const nonsense of ['', 't=1000', `${signature}0`, 't=1000,v1=zz']) {
      expect(isFromMillrace(nonsense, bytes, secret, 1_010)).toBe(false)
    }
  })
})

function withIp(event: JsonObject): JsonObject {
  const { context, request_ip } = event
  if (typeof context !== 'object' || context === null || Array.isArray(context)) return event
  if (typeof request_ip !== 'string' || request_ip === '') return event
  return context['ip'] === undefined || context['ip'] === null || context['ip'] === ''
    ? { ...event, context: { ...context, ip: request_ip } }
    : event
}

function withoutNulls(event: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(event).filter(([, value]) => value !== null))
}
