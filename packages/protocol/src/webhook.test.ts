import { expect, test } from 'vitest'
import { storedEvents } from './enrich.ts'
import type { JsonObject } from './json.ts'
import { decodeRecord, type EventRecord, encodedSize, encodeRecord } from './record.ts'
import { webhookBody } from './webhook.ts'

const NO_PATHS = { event: '', userId: '', anonymousId: '', messageId: '' }
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

function recordOf(payload: string, paths = {}): EventRecord {
  return {
    header: {
      sourceId: 's',
      route: 'webhook',
      acceptedAt: Date.parse('2026-03-04T09:15:31.900Z'),
      clientAddress: '203.0.113.9',
      seed: Uint8Array.from({ length: 16 }, (_, i) => i * 11),
      rules: 2,
      policySet: 0,
      messageHashes: new Uint8Array(8),
    },
    body: webhookBody({ ...NO_PATHS, ...paths }, Buffer.from(payload)),
  }
}

const eventsOf = (payload: JsonObject | JsonObject[], paths = {}) =>
  storedEvents(recordOf(JSON.stringify(payload), paths)).events

test('an object is a track event with the object as its properties', () => {
  const [event, ...more] = eventsOf({ type: 'invoice.paid', amount: 18.5 })
  expect(more).toEqual([])
  expect(event).toEqual({
    type: 'track',
    event: 'Webhook Received',
    messageId: expect.stringMatching(UUID_V4),
    anonymousId: expect.stringMatching(UUID_V4),
    properties: { type: 'invoice.paid', amount: 18.5 },
    receivedAt: '2026-03-04T09:15:31.900Z',
    request_ip: '203.0.113.9',
  })
  expect(event!.anonymousId).not.toBe(event!.messageId)
})

test('name and ids are taken from the paths; what is there but no text or number counts as missing', () => {
  const sent = {
    id: 'evt_7',
    type: 'invoice.paid',
    data: { object: { customer: 4711, lines: [{ id: 'l-1' }] } },
    n: {},
  }
  const cases: [paths: Partial<typeof NO_PATHS>, wanted: JsonObject][] = [
    [
      { event: 'type', userId: 'data.object.customer', messageId: 'id' },
      { event: 'invoice.paid', userId: '4711', messageId: 'evt_7' },
    ],
    [{ anonymousId: 'data.object.lines.0.id' }, { anonymousId: 'l-1', event: 'Webhook Received' }],
    [
      { event: 'n', userId: 'n.x', anonymousId: 'data.object.lines.x.id', messageId: 'n' },
      { event: 'Webhook Received' },
    ],
    [{ event: 'constructor.name', userId: '__proto__.x' }, { event: 'Webhook Received' }],
  ]
  for (const [paths, wanted] of cases) {
    const [event] = eventsOf(sent, paths)
    expect(event).toMatchObject(wanted)
    expect('userId' in event!).toBe('userId' in wanted)
    expect(event!.anonymousId === undefined).toBe('userId' in wanted)
  }
})

test('an array is as many events, each with ids of its own, the same for every reader', () => {
  const events = eventsOf([{ n: 1 }, { n: 2 }, { n: 3 }])
  expect(events.map(({ properties }) => properties)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
  expect(new Set(events.flatMap(({ messageId, anonymousId }) => [messageId, anonymousId])).size).toBe(6)
  const record = recordOf('[{"n":1},{"n":2},{"n":3}]')
  const bytes = Buffer.alloc(encodedSize(record))
  encodeRecord(record, bytes, 0)
  expect(storedEvents(decodeRecord(bytes)).events).toEqual(events)
})

test('the record holds the payload byte for byte', () => {
  const payload = ' {"b" : 1.50,\n"a":"\\u0041" } '
  expect(Buffer.from(recordOf(payload).body).includes(Buffer.from(payload))).toBe(true)
  expect(storedEvents(recordOf(payload)).events[0]!['properties']).toEqual({ b: 1.5, a: 'A' })
})
