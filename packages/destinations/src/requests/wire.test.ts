import type { JsonObject } from '@millrace/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type RequestObject, requestObject } from './request-object.ts'
import { MAX_BODY_BYTES, toWire } from './wire.ts'

const endpoint = 'https://crm.cinema.example/contact'
const agent = 'Millrace/1.2.3'

function wireOf(parts: Partial<Parameters<typeof requestObject>[0]>) {
  return toWire(requestObject({ method: 'POST', endpoint, ...parts }), agent)
}

describe('a body', () => {
  test.each<[kind: string, body: Partial<RequestObject['body']>, text: string, contentType: string]>([
    ['JSON', { JSON: { a: [1, null], ü: '"' } }, '{"a":[1,null],"ü":"\\""}', 'application/json'],
    ['JSON_ARRAY', { JSON_ARRAY: { batch: '[{"a": 1},2]' } }, '[{"a": 1},2]', 'application/json'],
    ['XML', { XML: { payload: '<a>é</a>' } }, '<a>é</a>', 'application/xml'],
    [
      'FORM',
      { FORM: { email: 'ada+1@mail.example', 'full name': 'A & B', n: 7, ok: false, none: null, tags: ['a', 'b'] } },
      'email=ada%2B1%40mail.example&full%20name=A%20%26%20B&n=7&ok=false&tags=a&tags=b',
      'application/x-www-form-urlencoded',
    ],
  ])('of kind %s is sent with its content type', (_, body, text, contentType) => {
    const wire = wireOf({ body })
    expect(wire.body).toBe(text)
    expect(wire.headers['content-type']).toBe(contentType)
  })

  test('has the content type that the headers name, in any letter case', () => {
    const { headers } = wireOf({ headers: { 'Content-TYPE': 'text/csv' }, body: { FORM: { a: 1 } } })
    expect(headers).toEqual({ 'Content-TYPE': 'text/csv', 'user-agent': agent })
  })

  test('that is empty is not sent and has no content type', () => {
    const wire = wireOf({ method: 'GET' })
    expect(wire).toEqual({ method: 'GET', url: endpoint, headers: { 'user-agent': agent }, body: '' })
  })

  test('beside another one is refused', () => {
    const twoBodies = { JSON: { a: 1 }, XML: { payload: '' } }
    expect(() => wireOf({ body: twoBodies })).toThrow(new Error('Request has more than one non-empty body'))
  })

  test('may have 4,000 KB and no byte more', () => {
    const payload = 'é'.repeat(MAX_BODY_BYTES / 2)
    expect(MAX_BODY_BYTES).toBe(4_000 * 1_024)
    expect(Buffer.byteLength(wireOf({ body: { XML: { payload } } }).body)).toBe(MAX_BODY_BYTES)
    expect(() => wireOf({ body: { XML: { payload: `${payload}x` } } })).toThrow(new Error('request body is too large'))
  })
})

describe('headers', () => {
  test.each<[what: string, given: JsonObject, sent: JsonObject]>([
    ['are sent as given', { 'X-Trace': 'abc' }, { 'X-Trace': 'abc', 'user-agent': agent }],
    ['are text', { a: 7, b: true, c: 1.5, d: '' }, { a: '7', b: 'true', c: '1.5', d: '', 'user-agent': agent }],
    ['that are null are left out', { a: null }, { 'user-agent': agent }],
    [
      'that differ by letter case are one, the later',
      { 'X-A': '1', b: '2', 'x-a': '3' },
      { b: '2', 'x-a': '3', 'user-agent': agent },
    ],
    ['may name another user agent', { 'User-Agent': 'Cinema/1' }, { 'User-Agent': 'Cinema/1' }],
  ])('%s', (_, given, sent) => {
    expect(wireOf({ headers: given }).headers).toEqual(sent)
  })

  test('may be called __proto__', () => {
    const { headers } = wireOf({ headers: JSON.parse('{"__proto__":"x"}') as JsonObject })
    expect(Object.entries(headers)).toContainEqual(['__proto__', 'x'])
  })

  // A client may send an event with as many as its size allows. Comparing each with each would take minutes here.
  test('may be very many', () => {
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`x-${i + 100_000}`, 'y']))
    expect(Object.keys(wireOf({ headers: many }).headers)).toHaveLength(50_001)
  })
})

describe('params', () => {
  test.each<[what: string, endpoint: string, params: JsonObject, url: string]>([
    ['are appended', 'https://a.example/in', { a: 1, b: 'x y' }, 'https://a.example/in?a=1&b=x%20y'],
    ['come behind a query', 'https://a.example/in?z=%20', { a: 1 }, 'https://a.example/in?z=%20&a=1'],
    ['come behind an open query', 'https://a.example/in?', { a: 1 }, 'https://a.example/in?a=1'],
    ['come behind an open pair', 'https://a.example/in?z=0&', { a: 1 }, 'https://a.example/in?z=0&a=1'],
    ['come before a fragment', 'https://a.example/in?z=0#top?', { a: 1 }, 'https://a.example/in?z=0&a=1#top?'],
    [
      'are percent-encoded',
      'https://a.example/',
      { 'seats[0]': '&=#é+' },
      'https://a.example/?seats%5B0%5D=%26%3D%23%C3%A9%2B',
    ],
    [
      'that are empty are left out',
      'https://a.example/',
      { a: null, b: {}, c: [], d: '', e: 0, f: false },
      'https://a.example/?d=&e=0&f=false',
    ],
    ['repeat the name for lists', 'https://a.example/', { a: [1, null, 'x', {}] }, 'https://a.example/?a=1&a=x'],
    [
      'leave the address alone when there are none',
      'https://a.example/in#top',
      { a: null },
      'https://a.example/in#top',
    ],
  ])('%s', (_, address, params, url) => {
    expect(wireOf({ endpoint: address, params }).url).toBe(url)
  })

  test('arrive as they were, whatever they hold', () => {
    const leaf = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.boolean())
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), leaf, { noNullPrototype: true }), (params) => {
        const { searchParams } = new URL(wireOf({ endpoint: 'https://a.example/in?z=0', params }).url)
        const arrived = [...searchParams].slice(1)
        expect(arrived).toEqual(Object.entries(params).map(([name, value]) => [wellFormed(name), wellFormed(value)]))
      }),
    )
  })
})

function wellFormed(value: unknown): string {
  return String(value).toWellFormed()
}
