import { describe, expect, test } from 'vitest'
import { storedEvents } from './enrich.ts'
import { normalizedId } from './event-id.ts'
import { isJsonObject, type JsonObject } from './json.ts'
import {
  decodeRecord,
  ENRICHMENT_RULES,
  type EventRecord,
  encodedSize,
  encodeRecord,
  ROUTES,
  type Route,
} from './record.ts'

const ACCEPTED_AT = '2026-03-04T09:15:31.900Z'
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

function recordOf(body: JsonObject | string, route: Route = 'track', rules = ENRICHMENT_RULES): EventRecord {
  return {
    header: {
      sourceId: '3iidO0kXIpgrmam9JhPLS2gpoVe',
      route,
      acceptedAt: Date.parse(ACCEPTED_AT),
      clientAddress: '203.0.113.9',
      seed: Uint8Array.from({ length: 16 }, (_, i) => i * 11),
      rules,
      policySet: 0,
      messageHashes: new Uint8Array(8),
    },
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  }
}

const stored = (body: JsonObject, route?: Route) => storedEvents(recordOf(body, route)).events[0]!
const batchOf = (...batch: JsonObject[]) => storedEvents(recordOf({ batch }, 'batch')).events

// contracts/ingest.md §3
test('the full example of a track is stored as the contract shows it', () => {
  const sent = {
    anonymousId: 'e5245eca-b5ef-4104-a5f3-87ae985a0278',
    userId: 4711,
    event: 'Seat Reserved',
    properties: { hall: 'B', seat: 14, price: 18.5, tags: ['matinee', 'balcony'] },
    context: { library: { name: 'millrace-js', version: '1.2.0' }, externalId: [{ type: 'loyaltyId', id: 'C-90' }] },
    integrations: { All: true, Webhook: false },
    originalTimestamp: '2026-03-04T09:15:27.120Z',
    sentAt: '2026-03-04T09:15:28.400Z',
  }
  expect(stored(sent)).toEqual({
    ...sent,
    type: 'track',
    userId: '4711',
    messageId: expect.stringMatching(UUID_V4),
    receivedAt: ACCEPTED_AT,
    request_ip: '203.0.113.9',
  })
})

// contracts/ingest.md §12.1, §12.29
test('the type is that of the path, or of the element of a batch', () => {
  for (const route of ROUTES.slice(0, 7)) expect(stored({ userId: 'u', type: 'x' }, route).type).toBe(route)
  expect(batchOf({ type: 'merge', userId: 'u' })[0]!.type).toBe('merge')
})

test('what client libraries tell the server alone is in no event; a property of that name stays', () => {
  for (const value of ['k', 7, null, { bundled: ['Segment.io'] }]) {
    const sent = { type: 'page', userId: 'u', writeKey: value, _metadata: value, properties: { writeKey: 'stays' } }
    for (const event of [stored(sent), batchOf(sent)[0]!]) {
      expect(event).not.toHaveProperty('writeKey')
      expect(event).not.toHaveProperty('_metadata')
      expect(event).toHaveProperty('properties', { writeKey: 'stays' })
    }
  }
})

// contracts/ingest.md §12.14, §5 steps 2 and 3
describe('an id', () => {
  const cases: [given: unknown, id: string | undefined][] = [
    ['u-1', 'u-1'],
    ['  padded\t', 'padded'],
    ['\u00a0no-break\u2003', 'no-break'],
    ['a\u0000b\u001fc\u007fd', 'abcd'],
    ['with blank inside', 'with blank inside'],
    ['Zażółć 🎭', 'Zażółć 🎭'],
    [0, '0'],
    [-17.5, '-17.5'],
    [9007199254740991, '9007199254740991'],
    ['', undefined],
    [' \n\u007f', undefined],
    [true, undefined],
    [null, undefined],
    [['u'], undefined],
    [{ id: 'u' }, undefined],
    [undefined, undefined],
  ]
  for (const [given, id] of cases) {
    test(`${JSON.stringify(given)} is ${JSON.stringify(id)}`, () => {
      expect(normalizedId(given)).toBe(id)
      const isKept = typeof given === 'string' || typeof given === 'number'
      const event = stored({ anonymousId: 'a', ...(given === undefined ? {} : { userId: given as string }) })
      // A text without anything in it stays, as the empty text; what is no text or number goes.
      expect(event.userId).toBe(isKept ? (id ?? '') : undefined)
      expect(Object.hasOwn(event, 'userId')).toBe(isKept)
    })
  }
})

// contracts/ingest.md §12.15, §5 step 4
describe('a messageId', () => {
  test('that says something is kept, without the space around it', () => {
    expect(stored({ userId: 'u', messageId: ' m-1 ' }).messageId).toBe('m-1')
  })

  test('that is missing, blank or no text becomes a UUIDv4 of its own, the same for every reader', () => {
    const given = [undefined, '', '  ', 7, null, {}, true]
    const batch = given.map((messageId) => ({
      type: 'track',
      userId: 'u',
      ...(messageId !== undefined && { messageId }),
    }))
    const record = recordOf({ batch } as JsonObject, 'batch')
    const ids = storedEvents(record).events.map(({ messageId }) => messageId)
    for (const id of ids) expect(id).toMatch(UUID_V4)
    expect(new Set(ids).size).toBe(given.length)
    // A reader after a restart knows the record by its bytes alone.
    const bytes = Buffer.alloc(encodedSize(record))
    encodeRecord({ ...record, header: { ...record.header, messageHashes: new Uint8Array(8) } }, bytes, 0)
    expect(storedEvents(decodeRecord(bytes)).events.map(({ messageId }) => messageId)).toEqual(ids)
  })

  test('is made of the seed and the index alone', () => {
    const record = recordOf({ userId: 'u' })
    expect(storedEvents(record).events[0]!.messageId).toBe(DERIVED)
    expect(storedEvents(recordOf({ userId: 'someone else', event: 'x' })).events[0]!.messageId).toBe(DERIVED)
  })
})

/** Of the seed above and index 0. It must never change: records of old have such ids in traces and in destinations. */
const DERIVED = '43d052f8-e2f6-4cd6-b6e1-0caa141e6509'

// contracts/ingest.md §5 steps 5 and 6
test('receivedAt is kept when it is a time, request_ip when it is a text', () => {
  for (const given of ['2026-03-04', '2020-01-01T00:00:00+02:00', ACCEPTED_AT]) {
    expect(stored({ userId: 'u', receivedAt: given }).receivedAt).toBe(given)
  }
  for (const given of ['yesterday', '', 1_772_615_731_900, null, {}, '2026-13-01']) {
    expect(stored({ userId: 'u', receivedAt: given as string }).receivedAt).toBe(ACCEPTED_AT)
  }
  expect(stored({ userId: 'u', request_ip: 'any text' }).request_ip).toBe('any text')
  for (const given of ['', null, 7]) expect(stored({ userId: 'u', request_ip: given }).request_ip).toBe('203.0.113.9')
})

// contracts/ingest.md §12.17
test('nothing else is added, changed or removed', () => {
  const sent = { nothing: null, empty: '', list: [], object: {}, timestamp: 'not a time', sentAt: 7, version: 1.5e300 }
  const { type, messageId, receivedAt, request_ip, userId, ...rest } = stored({ ...sent, userId: 'u' })
  expect(JSON.stringify(rest)).toBe(JSON.stringify(sent))
})

describe('the envelope of a batch', () => {
  const withEnvelope = (envelope: JsonObject, ...batch: JsonObject[]) =>
    storedEvents(
      recordOf({ ...envelope, batch: batch.map((each) => ({ type: 'page', userId: 'u', ...each })) }, 'batch'),
    )

  test('gives sentAt beside the events, as it was sent, and none of its other members', () => {
    for (const sentAt of ['2026-03-04T09:20:01.000Z', 7, null]) {
      const read = withEnvelope({ sentAt, userId: 'other', channel: 'web', traits: { a: 1 } }, {})
      expect(read.sentAt).toBe(sentAt)
      const { messageId, receivedAt, request_ip, ...rest } = read.events[0]!
      expect(rest).toEqual({ type: 'page', userId: 'u' })
    }
    expect(storedEvents(recordOf({ userId: 'u', sentAt: 'x' })).sentAt).toBeUndefined()
  })

  const cases: [title: string, envelope: JsonObject, own: JsonObject, merged: JsonObject][] = [
    ['an event without any gets them whole', { context: { a: 1 } }, {}, { context: { a: 1 } }],
    ['own values win', { context: { a: 1, b: 2 } }, { context: { a: 0 } }, { context: { a: 0, b: 2 } }],
    [
      'null is an own value',
      { context: { a: 1, b: { c: 2 } } },
      { context: { a: null, b: null } },
      { context: { a: null, b: null } },
    ],
    [
      'objects are merged at every level',
      { context: { app: { name: 'Cinema', build: { n: 7 } }, ip: '203.0.113.7' } },
      { context: { app: { build: { beta: true } } } },
      { context: { app: { name: 'Cinema', build: { n: 7, beta: true } }, ip: '203.0.113.7' } },
    ],
    [
      'arrays are replaced',
      { context: { list: [1, { a: 2 }] } },
      { context: { list: [{ b: 3 }] } },
      { context: { list: [{ b: 3 }] } },
    ],
    [
      'an array does not become an object',
      { context: { a: { 0: 'x' } } },
      { context: { a: [] } },
      { context: { a: [] } },
    ],
    ['an own context of another kind stays', { context: { a: 1 } }, { context: null }, { context: null }],
    ['a context of another kind is ignored', { context: [1], integrations: 'All' }, {}, {}],
    [
      'integrations are merged by name',
      { integrations: { All: false, Slack: { channel: 'a' }, Webhook: false } },
      { integrations: { All: true, Slack: { thread: 1 } } },
      { integrations: { All: true, Slack: { thread: 1 }, Webhook: false } },
    ],
  ]
  for (const [title, envelope, own, merged] of cases) {
    test(title, () => {
      const { messageId, receivedAt, request_ip, type, userId, ...rest } = withEnvelope(envelope, own).events[0]!
      expect(rest).toEqual(merged)
    })
  }

  test('may hold members of any name', () => {
    const body =
      '{"context":{"__proto__":{"a":1},"constructor":2},"batch":[{"type":"page","userId":"u","context":{"b":3}}]}'
    const [event] = storedEvents(recordOf(body, 'batch')).events
    expect(JSON.stringify(event!['context'])).toBe('{"b":3,"__proto__":{"a":1},"constructor":2}')
    expect(Object.getPrototypeOf(event!['context'])).toBe(Object.prototype)
  })

  test('is shared by the events: none of them has a copy', () => {
    const { events } = withEnvelope({ context: { app: { name: 'Cinema' } } }, {}, {}, { context: { a: 1 } })
    const contexts = events.map((event) => event['context'] as JsonObject)
    expect(contexts[1]).toBe(contexts[0])
    expect(contexts[2]!['app']).toBe(contexts[0]!['app'])
    expect(contexts[0]).toEqual({ app: { name: 'Cinema' } })
  })
})

test('a record of rules 1 is read as it was before', () => {
  const element = { type: 'page', userId: 'u', writeKey: 'k', _metadata: { a: 1 } }
  const body = { sentAt: 'x', context: { a: 1 }, integrations: { All: false }, batch: [element] }
  const { events, rules } = storedEvents(recordOf(body, 'batch', 1))
  expect(rules).toBe(1)
  expect(events[0]).toMatchObject(element)
  expect(events[0]).not.toHaveProperty('context')
  expect(events[0]).not.toHaveProperty('integrations')
  const single = storedEvents(recordOf({ userId: 'u', writeKey: 'k', _metadata: 1 }, 'page', 1)).events[0]!
  expect(single).toHaveProperty('_metadata')
  expect(single).not.toHaveProperty('writeKey')
})

test('each call gives objects of its own', () => {
  const record = recordOf({ userId: 'u', properties: { a: 1 } })
  const [first, second] = [storedEvents(record).events[0]!, storedEvents(record).events[0]!]
  expect(first).toEqual(second)
  expect(isJsonObject(first['properties']) && first['properties'] === second['properties']).toBe(false)
})

test('a record that holds no object is refused rather than guessed at', () => {
  expect(() => storedEvents(recordOf('[]'))).toThrow(expect.objectContaining({ code: 'RECORD_FORMAT' }))
})
