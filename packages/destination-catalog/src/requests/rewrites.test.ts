import { describe, expect, test } from 'vitest'
import type { CapturedRequest } from '../messages.ts'
import { capturedObject } from './captured-object.ts'
import { REWRITES, rewritten } from './rewrites.ts'

const DAY_MS = 86_400_000

function captured(change: Partial<CapturedRequest> = {}): CapturedRequest {
  return {
    method: 'POST',
    url: 'https://vendor.example/in',
    headers: { 'content-type': 'application/json' },
    body: '{}',
    bodyIsBase64: false,
    timeoutMs: 10_000,
    secrets: [],
    ...change,
  }
}

function made(change: Partial<CapturedRequest>, slug = 'loops', config = {}) {
  const result = rewritten(captured(change), { slug, config, userAgent: 'Millrace/1.2.3', isUserAgentAdded: false })
  if ('refused' in result) throw new Error(result.refused)
  return result.request
}

describe('guards', () => {
  test.each([
    ['https://api.segment.io/v1/track', 'request to a refused host'],
    ['https://segment.com./x', 'request to a refused host'],
    ['https://localhost/x', 'request to a refused host'],
    ['https://kubernetes.default.svc/x', 'request to a refused host'],
    ['https://vendor.example/users/undefined/events', 'request holds an unset value'],
    ['https://vendor.example/in?id=%5Bobject%20Object%5D', 'request holds an unset value'],
    ['http://vendor.example/in', 'plain http refused'],
  ])('%s: %s', (url, text) => {
    expect(() => made({ url })).toThrow(text)
  })

  test('a credential that is unset is refused', () => {
    expect(() => made({ headers: { authorization: 'Bearer undefined' } })).toThrow('request holds an unset value')
  })

  test('plain http is refused for a host of which the configuration names only a longer form', () => {
    const named = { endpoint: 'http://vendor.example.net/in' }
    expect(() => made({ url: 'http://vendor.example/in' }, 'webhook', named)).toThrow('plain http refused')
  })

  test('plain http is kept where the configuration says so, and names like a refused one are no refused ones', () => {
    expect(
      made({ url: 'http://10.0.0.7/in' }, 'webhook', { subscriptions: [{ url: 'http://10.0.0.7/in' }] }).url,
    ).toContain('10.0.0.7')
    expect(made({ url: 'https://notsegment.com/in' }).url).toBe('https://notsegment.com/in')
  })
})

describe('rewrites', () => {
  test('R1: the user agent is ours unless the definition names another one that is true', () => {
    expect(made({}).headers['user-agent']).toBe('Millrace/1.2.3')
    expect(made({ headers: { 'user-agent': 'SegmentDestination/2.2.0' } })).toMatchObject({
      headers: { 'user-agent': 'Millrace/1.2.3' },
      rules: ['R1'],
    })
    expect(made({ headers: { 'user-agent': 'Mozilla/5.0' } }).headers['user-agent']).toBe('Mozilla/5.0')
  })

  test('R8: the staging host of Memora is replaced, and no other entry is touched', () => {
    const url = 'https://memory.stage.twilio.com/v1/x'
    expect(made({ url }, 'memora')).toMatchObject({ url: 'https://memory.twilio.com/v1/x', rules: ['R8'] })
    expect(made({ url }).url).toBe(url)
  })

  test('R10: messages of Slack come from Millrace', () => {
    const body = JSON.stringify({ username: 'Segment', icon_url: 'https://logo.clearbit.com/segment.com', text: 'x' })
    expect(JSON.parse(made({ body }, 'slack').body)).toEqual({ username: 'Millrace', text: 'x' })
    const own = JSON.stringify({ username: 'Till', icon_url: 'https://cinema.example/i.png', text: 'x' })
    expect(made({ body: own }, 'slack').body).toBe(own)
  })

  test('no rewrite is within 30 days of its review', () => {
    const due = Object.entries(REWRITES).filter(([, { reviewBy }]) => Date.parse(reviewBy) - 30 * DAY_MS < Date.now())
    expect(due.map(([number, { reviewBy }]) => `${number}: review by ${reviewBy}`)).toEqual([])
  })
})

describe('labels', () => {
  test.each([
    ['amplitude', { events: [{ library: 'segment' }] }, { events: [{ library: 'millrace' }] }],
    ['airship', { properties: { source: 'Segment', seat: 'F7' } }, { properties: { source: 'Millrace', seat: 'F7' } }],
    ['loops', { source: 'Segment' }, { source: 'Millrace' }],
    ['loops', { source: 'Shop app' }, { source: 'Shop app' }],
    ['angler-ai', { src: 'SEGMENT' }, { src: 'millrace' }],
    [
      'mixpanel',
      { properties: { mp_lib: 'x' }, mp_lib: 'Segment Actions: web' },
      { properties: { mp_lib: 'x' }, mp_lib: 'web' },
    ],
    [
      'heap',
      { custom_properties: { segment_library: 'cloud-mode-destination', seat: 'F7' } },
      { custom_properties: { seat: 'F7' } },
    ],
    ['tiktok-conversions', { partner_name: 'Segment', event: 'x' }, { event: 'x' }],
    ['reddit-conversions-api', { partner: 'SEGMENT' }, {}],
  ])('%s changes its label and nothing else', (slug, body, expected) => {
    expect(JSON.parse(made({ body: JSON.stringify(body) }, slug).body)).toEqual(expected)
  })

  test('a header is renamed in its letter case', () => {
    expect(made({ headers: { 'x-source': 'Segment' } }, 'usermotion').headers['x-source']).toBe('Millrace')
  })

  test('the data of the user is not changed, and asShipped changes nothing', () => {
    const body = JSON.stringify({ properties: { library: 'segment' }, library: 'segment' })
    expect(JSON.parse(made({ body }, 'amplitude').body)).toEqual({
      properties: { library: 'segment' },
      library: 'millrace',
    })
    expect(made({ body }, 'amplitude', { vendorLabels: 'asShipped' })).toMatchObject({ body, rules: [] })
  })
})

/** contracts/destination-catalog.md §8.3, row by row. */
describe('the shown object', () => {
  const shown = (change: Partial<CapturedRequest>) => capturedObject(made(change))
  const typed = (type: string) => ({ 'content-type': type })

  test.each<[string, Partial<CapturedRequest>, object]>([
    ['no body', { body: '' }, {}],
    [
      'a form',
      { body: 'a=1&b=2&b=3', headers: typed('application/x-www-form-urlencoded') },
      { FORM: { a: '1', b: ['2', '3'] } },
    ],
    ['XML by its type', { body: 'x', headers: typed('application/xml') }, { XML: { payload: 'x' } }],
    ['XML by its first character', { body: ' <a/>', headers: {} }, { XML: { payload: ' <a/>' } }],
    ['a JSON object', { body: '{"a":1}' }, { JSON: { a: 1 } }],
    ['a JSON array', { body: '[1]' }, { JSON_ARRAY: { batch: '[1]' } }],
    ['lines of JSON', { body: '{"a":1}\n{"a":2}' }, { JSON_ARRAY: { batch: '{"a":1}\n{"a":2}' } }],
    ['bytes', { body: 'AAE=', bodyIsBase64: true }, { JSON_ARRAY: { batch: 'AAE=' } }],
  ])('%s', (_name, change, body) => {
    expect(shown(change).body).toEqual({ JSON: {}, JSON_ARRAY: {}, XML: {}, FORM: {}, ...body })
  })

  test('the query becomes params, the default user agent is left out, and bytes are marked', () => {
    expect(shown({ url: 'https://vendor.example/in?a=1&b=2&b=3' })).toMatchObject({
      endpoint: 'https://vendor.example/in',
      params: { a: '1', b: ['2', '3'] },
      headers: { 'content-type': 'application/json' },
    })
    expect(shown({}).headers).not.toHaveProperty('user-agent')
    expect(shown({ bodyIsBase64: true }).headers['x-millrace-body']).toBe('base64')
  })
})
