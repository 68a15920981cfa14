import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { basic, DISABLED_KEY, GatewayUnderTest, KEY, OTHER_KEY, type Sent } from './gateway-under-test.ts'

let under: GatewayUnderTest
beforeAll(async () => {
  under = await GatewayUnderTest.start()
})
afterAll(() => under[Symbol.asyncDispose]())

interface Row extends Sent {
  readonly name: string
  readonly status: number
  readonly text: string
  /** Of the element that X-Millrace-Event-Index names. */
  readonly index?: number
  /** Members of the one stored event, when the request is accepted. */
  readonly stores?: object
  readonly sourceId?: string
}

async function check({ name: _, status, text, index, stores, sourceId, ...sent }: Row): Promise<void> {
  const from = under.end()
  const answer = await under.send(sent)
  expect([answer.status, answer.text]).toEqual([status, text])
  expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8')
  expect(answer.headers['x-content-type-options']).toBe('nosniff')
  expect(answer.headers['x-request-id']).toMatch(/./)
  expect(answer.headers['x-millrace-event-index']).toBe(index === undefined ? undefined : String(index))
  const found = await under.found(from)
  if (status !== 200) {
    expect(found).toEqual([])
  } else if (stores !== undefined) {
    expect(found).toHaveLength(1)
    expect(found[0]!.event).toMatchObject(stores)
    expect(found[0]!.sourceId).toBe(sourceId ?? 'source-1')
  }
}

const batch = (...elements: unknown[]) => JSON.stringify({ batch: elements })
const good = { type: 'track', userId: 'u' }
const noKey = { status: 401, text: 'Failed to read writeKey from header' }
const noQueryKey = { status: 401, text: 'Failed to read writeKey from Query Params' }
const unknownKey = { status: 401, text: 'Invalid Write Key' }
const disabled = { status: 404, text: 'Source is disabled' }
const invalidJson = { status: 400, text: 'Invalid JSON' }
const noIds = { status: 400, text: 'Request neither has anonymousId nor userId' }
const emptyBatch = { status: 400, text: 'Empty batch payload' }
const invalidEvent = { status: 400, text: 'Batch element is not a valid event' }
const unreadable = { status: 400, text: 'Failed to read body from request' }
const encoding = { status: 415, text: 'Unsupported content encoding' }
const accepted = { status: 200, text: 'OK' }
const encoded = (name: string) => ({ ...basic(KEY), 'Content-Encoding': name })

// contracts/ingest.md §6 "Bad input", in its order; sizes, nesting and numbers of events are in limits.test.ts.
const rows: Row[] = [
  { name: 'no key anywhere', headers: {}, body: '{"userId":"u"}', ...noKey },
  { name: 'a key in the body that is no text', headers: {}, body: '{"userId":"u","writeKey":7}', ...noKey },
  { name: 'a blank key in the body', headers: {}, body: '{"userId":"u","writeKey":"  "}', ...noKey },
  {
    name: 'a known key in the body',
    headers: {},
    body: `{"userId":"u","writeKey":"${KEY}"}`,
    ...accepted,
    stores: { userId: 'u' },
  },
  { name: 'an unknown key in the body', headers: {}, body: '{"userId":"u","writeKey":"nosuchkey"}', ...unknownKey },
  {
    name: 'one key in the header and another in the body: the header wins',
    body: `{"userId":"u","writeKey":"${OTHER_KEY}"}`,
    ...accepted,
    stores: { userId: 'u' },
  },
  { name: 'no Authorization and no JSON', headers: {}, body: '{"a":1', ...invalidJson },
  { name: 'Bearer and no key in the body', headers: { Authorization: 'Bearer abc' }, body: '{"userId":"u"}', ...noKey },
  { name: 'another scheme', headers: { Authorization: 'Digest abc' }, body: '{"userId":"u"}', ...noKey },
  { name: 'Basic with text that is not base64', headers: { Authorization: 'Basic ?%!' }, body: '{}', ...noKey },
  { name: 'Basic with a length that no base64 has', headers: { Authorization: 'Basic abcde' }, body: '{}', ...noKey },
  { name: 'Basic with an empty user name', headers: basic(''), body: '{"userId":"u"}', ...noKey },
  { name: 'Basic with nothing', headers: { Authorization: 'Basic' }, body: '{"userId":"u"}', ...noKey },
  { name: 'empty Authorization', headers: { Authorization: '' }, body: `{"userId":"u","writeKey":"${KEY}"}`, ...noKey },
  { name: 'an unknown key', headers: basic('nosuchkey'), body: '{"userId":"u"}', ...unknownKey },
  { name: 'the key of a disabled source', headers: basic(DISABLED_KEY), body: '{"userId":"u"}', ...disabled },
  { name: 'an empty body', body: '', status: 400, text: 'Request body is nil' },
  { name: 'an empty body, encoded', headers: encoded('gzip'), body: '', status: 400, text: 'Request body is nil' },
  {
    name: 'a body that unpacks to nothing',
    headers: encoded('gzip'),
    body: gzipSync(''),
    status: 400,
    text: 'Request body is nil',
  },
  ...['null', '[]', '"x"', '17', '{"a":1', ' ', '{"userId":"u"}{}', '{userId:"u"}', '\ufeff{"userId":"u"}'].map(
    (body) => ({ name: `body ${body}`, body, ...invalidJson }),
  ),
  { name: 'bytes FF FE', body: Buffer.from([0xff, 0xfe]), ...invalidJson },
  { name: 'a text that is not UTF-8', body: Buffer.from('{"userId":"u\xff"}', 'latin1'), ...invalidJson },
  { name: 'an event without anything', path: '/v1/page', body: '{}', ...noIds },
  { name: 'blank ids', body: '{"userId":"  ","anonymousId":""}', ...noIds },
  { name: 'ids of control characters', body: '{"userId":" \\u0000\\u007f","anonymousId":"\\n"}', ...noIds },
  { name: 'an id that is no text or number', body: '{"userId":true}', ...noIds },
  { name: 'ids of further kinds', body: '{"userId":null,"anonymousId":["a"]}', ...noIds },
  { name: 'a number as id', path: '/v1/identify', body: '{"userId":0}', ...accepted, stores: { userId: '0' } },
  { name: 'another type in the body', body: '{"type":"page","userId":"u"}', ...accepted, stores: { type: 'track' } },
  ...['{"batch":[]}', '{"batch":{}}', '{}', '{"batch":null}', '{"batch":"x"}'].map((body) => ({
    name: `batch ${body}`,
    path: '/v1/batch',
    body,
    ...emptyBatch,
  })),
  ...[5, null, 'x', [], { userId: 'u' }, { ...good, type: 'Track' }, { ...good, type: 7 }, { ...good, type: '' }].map(
    (element) => ({
      name: `batch with the element ${JSON.stringify(element)}`,
      path: '/v1/batch',
      body: batch(good, element, good),
      ...invalidEvent,
      index: 1,
    }),
  ),
  {
    name: 'batch whose last has no ids',
    path: '/v1/batch',
    body: batch(good, good, { type: 'page' }),
    ...noIds,
    index: 2,
  },
  {
    name: 'batch whose first has no ids',
    path: '/v1/backfill',
    body: batch({ type: 'page' }, good),
    ...noIds,
    index: 0,
  },
  { name: 'gzip over plain JSON', headers: encoded('gzip'), body: '{"userId":"u"}', ...unreadable },
  { name: 'cut gzip', headers: encoded('gzip'), body: gzipSync('{"userId":"u"}').subarray(0, -5), ...unreadable },
  { name: 'zstd', headers: encoded('zstd'), body: '{"userId":"u"}', ...encoding },
  { name: 'two encodings', headers: encoded('gzip, gzip'), body: '{"userId":"u"}', ...encoding },
  { name: 'beacon without a key', path: '/beacon/v1/batch', body: batch(good), ...noQueryKey },
  { name: 'beacon with an empty key', path: '/s/v1/batch?writeKey=&x=1', body: batch(good), ...noQueryKey },
  { name: 'beacon with an unknown key', path: '/s/v1/batch?writeKey=nosuchkey', body: batch(good), ...unknownKey },
  { name: 'beacon of a disabled source', path: `/s/v1/batch?writeKey=${DISABLED_KEY}`, body: '{', ...disabled },
  {
    name: 'the same member name twice: the last one counts',
    body: '{"userId":"a","userId":"b","event":"x","event":"y"}',
    ...accepted,
    stores: { userId: 'b', event: 'y' },
  },
  {
    name: 'the same member name twice in a batch',
    path: '/v1/batch',
    body: `{"batch":[5],"batch":[${JSON.stringify(good)}]}`,
    ...accepted,
    stores: good,
  },
]

describe('bad input', () => {
  for (const row of rows) test(`${row.name} → ${row.status} ${row.text}`, () => check(row))

  test('415 says which encodings are taken', async () => {
    const { headers } = await under.send({ headers: encoded('zstd'), body: '{}' })
    expect(headers['accept-encoding']).toBe('gzip, br, deflate')
  })

  test('no error text repeats what the client sent', async () => {
    const canary = 'canary-7d1'
    const refused: Sent[] = [
      { headers: { Authorization: `Bearer ${canary}` }, body: canary },
      { headers: basic(canary), body: canary },
      { headers: encoded(canary), body: canary },
      { body: canary },
      { path: '/v1/batch', body: batch({ type: canary, userId: 'u' }) },
      { path: `/s/v1/batch?writeKey=${canary}`, body: canary },
    ]
    for (const sent of refused) {
      const { status, text, headers } = await under.send(sent)
      expect(status).toBeGreaterThanOrEqual(400)
      expect(text + JSON.stringify(headers)).not.toContain(canary)
    }
  })
})

test('hostile member names and texts are stored as data and change nothing else', async () => {
  const from = under.end()
  const body =
    '{"userId":"u","__proto__":{"anonymousId":"x","polluted":1},"properties":{"constructor":{"prototype":{"polluted":1}},' +
    '"toString":1,"nul":"a\\u0000b","lone":"\\ud800","hasOwnProperty":null},"context":null,"list":[],"text":""}'
  expect((await under.send({ body })).status).toBe(200)
  const { event } = (await under.found(from))[0]!
  const { messageId, receivedAt, request_ip, type, ...sent } = event
  expect(JSON.stringify(sent)).toBe(body)
  expect(Object.keys(event)).toContain('__proto__')
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  expect({ type, request_ip }).toEqual({ type: 'track', request_ip: '127.0.0.1' })
  // A prototype that would carry ids does not stand for ids.
  const answer = await under.send({ body: '{"__proto__":{"userId":"u","anonymousId":"a"}}' })
  expect([answer.status, answer.text]).toEqual([400, noIds.text])
})
