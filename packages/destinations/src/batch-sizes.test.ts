import type { JsonObject, StoredEvent } from '@millrace/protocol'
import { expect, test } from 'vitest'
import { DestinationRegistry } from './registry.ts'
import { jsonBody, type RequestObject } from './requests/request-object.ts'
import { runTransform } from './run-transform.ts'
import { batchKeyOf, batchLimitsOf, joinedRequest } from './shield.ts'

/* How many events one request of each type carries. @see contracts/destinations.md §7a */

const registry = await DestinationRegistry.load()
const timestamp = '2026-03-04T09:15:27.120Z'
const google = { oauthClientId: 'a', oauthClientSecret: 'b', oauthRefreshToken: 'r' }
const salesforce = { instanceUrl: 'https://cinema.my.salesforce.com', oauthClientId: 'a', oauthClientSecret: 'b' }
const track = { type: 'track', event: 'Seat Reserved' }
const identify = { type: 'identify' }

interface Row {
  readonly config: JsonObject
  readonly event: JsonObject
  readonly size: number
  /** Where a full batch goes. */
  readonly path: string
  /** Several events of one user may be in it. */
  readonly ofOneUser?: true
}

const ROWS: Record<string, Row> = {
  WEBHOOK: {
    config: { webhookUrl: 'https://a.example/in', batchSize: 1_000 },
    event: track,
    size: 1_000,
    path: '/in',
    ofOneUser: true,
  },
  'WEBHOOK, NDJSON': {
    config: { webhookUrl: 'https://a.example/in', batchSize: 1_000, batchFormat: 'NDJSON' },
    event: track,
    size: 1_000,
    path: '/in',
    ofOneUser: true,
  },
  HTTP: {
    config: { url: 'https://a.example/in', batchSize: 2, body: { a: '{{messageId}}' } },
    event: track,
    size: 2,
    path: '/in',
    ofOneUser: true,
  },
  GA4: {
    config: { measurementId: 'G-1', apiSecret: 's' },
    event: { ...track, anonymousId: 'a' },
    size: 25,
    path: '/mp/collect',
    ofOneUser: true,
  },
  AMPLITUDE: { config: { apiKey: 'k' }, event: track, size: 1_000, path: '/batch' },
  'MIXPANEL, events': { config: { projectToken: 't' }, event: track, size: 2_000, path: '/import' },
  'MIXPANEL, profiles': { config: { projectToken: 't' }, event: identify, size: 200, path: '/engage' },
  'MIXPANEL, groups': {
    config: { projectToken: 't' },
    event: { type: 'group', traits: { city: 'Graz' } },
    size: 200,
    path: '/groups',
  },
  BRAZE: {
    config: { restEndpoint: 'https://rest.iad-01.braze.com', apiKey: 'k' },
    event: track,
    size: 50,
    path: '/users/track',
  },
  'KLAVIYO, events': { config: { apiKey: 'k' }, event: track, size: 1_000, path: '/api/event-bulk-create-jobs' },
  'KLAVIYO, profiles': {
    config: { apiKey: 'k', bulkProfiles: true },
    event: identify,
    size: 1_000,
    path: '/api/profile-bulk-import-jobs',
  },
  CUSTOMERIO: { config: { siteId: 's', apiKey: 'k' }, event: track, size: 1_000, path: '/api/v2/batch' },
  FACEBOOK_CAPI: {
    config: { pixelId: '1', accessToken: 't' },
    event: track,
    size: 1_000,
    path: '/v26.0/1/events',
    ofOneUser: true,
  },
  'HUBSPOT, contacts': {
    config: { accessToken: 't' },
    event: identify,
    size: 100,
    path: '/crm/v3/objects/contacts/batch/upsert',
  },
  'HUBSPOT, events': {
    config: { accessToken: 't', eventNames: [{ eventName: 'Seat Reserved', name: 'pe1_seat' }] },
    event: track,
    size: 100,
    path: '/events/v3/send/batch',
  },
  SNAPCHAT_CAPI: {
    config: { pixelId: '1', accessToken: 't' },
    event: { ...track, event: 'Signed Up' },
    size: 1_000,
    path: '/v3/1/events',
  },
  LINKEDIN_CAPI: {
    config: { accessToken: 't', conversions: [{ eventName: '*', conversionId: '1' }] },
    event: track,
    size: 1_000,
    path: '/rest/conversionEvents',
  },
  GOOGLE_ADS: {
    config: { customerId: '1', conversions: [{ eventName: 'Seat Reserved', conversionActionId: '2' }], ...google },
    event: track,
    size: 2_000,
    path: '/v1/events:ingest',
    ofOneUser: true,
  },
  SALESFORCE: {
    config: { ...salesforce, externalIdField: 'Id__c' },
    event: identify,
    size: 200,
    path: '/services/data/v67.0/composite/sobjects/Lead/Id__c',
  },
}

test('every type with batches has a row here', () => {
  const withBatches = registry.all().filter((module) => module.batches !== undefined)
  const named = new Set(Object.keys(ROWS).map((name) => name.split(', ')[0]))
  expect(withBatches.map(({ definition }) => definition.name).filter((name) => !named.has(name))).toEqual([])
})

test.each(Object.entries(ROWS))('%s: a full batch is one request', (name, { config, event, size, path, ofOneUser }) => {
  const module = registry.find(name.split(', ')[0]!)!
  const requests = Array.from({ length: size }, (_, at) => requestOf(module, config, event, name === 'GA4' ? 0 : at))
  const limits = batchLimitsOf(module, config)!
  const keys = requests.map((request) => batchKeyOf(module.batches!, request)!)
  expect(new Set(keys.map(({ key }) => key)).size).toBe(1)
  expect(Math.min(limits.maxEvents, ...keys.map(({ maxEvents }) => maxEvents))).toBe(size)
  expect(module.batches!.takesManyOfOneUser).toBe(ofOneUser === true)
  const joined = joinedRequest(module.batches!, requests, requests.map(jsonBody), config)
  expect(new URL(joined.endpoint).pathname).toBe(path)
  const body = jsonBody(joined)
  const marks = requests.map((_, at) => (name === 'GA4' ? 'seat_reserved' : markOf(at)))
  expect(marks.filter((mark) => !body.includes(mark))).toEqual([])
})

test.each<[what: string, event: JsonObject, config: JsonObject, records: number, size: number]>([
  ['a profile', identify, {}, 1, 200],
  ['a profile with several operations', identify, { setOnceTraits: ['plan'], unionTraits: ['tags'] }, 3, 66],
  ['several groups', { type: 'group' }, { groupTraits: ['tags'] }, 4, 50],
])('Mixpanel takes 200 updates in a request: %s', (_, event, config, records, size) => {
  const { batches } = registry.find('MIXPANEL')!
  const traits = { plan: 'gold', tags: ['a', 'b', 'c'], city: 'Graz' }
  const request = requestOf(
    registry.find('MIXPANEL')!,
    { projectToken: 't', ...config },
    { ...event, traits, context: { traits } },
    0,
  )
  expect(JSON.parse(request.body.JSON_ARRAY['batch'] as string)).toHaveLength(records)
  const { key, maxEvents } = batchKeyOf(batches!, request)!
  expect(maxEvents).toBe(size)
  const one = requestOf(registry.find('MIXPANEL')!, { projectToken: 't' }, { ...event, traits: {}, context: {} }, 1)
  expect(batchKeyOf(batches!, one)!.key === key).toBe(records === 1)
})

test('Amplitude gets ten events at its usual endpoint, and more at the batch endpoint', () => {
  const module = registry.find('AMPLITUDE')!
  const pathOf = (count: number) => {
    const requests = Array.from({ length: count }, (_, at) => requestOf(module, { apiKey: 'k' }, track, at))
    return new URL(joinedRequest(module.batches!, requests, requests.map(jsonBody), { apiKey: 'k' }).endpoint).pathname
  }
  expect([pathOf(1), pathOf(10), pathOf(11)]).toEqual(['/2/httpapi', '/2/httpapi', '/batch'])
})

test.each(['WEBHOOK', 'HTTP'])('%s sends each event alone unless batchSize says more', (type) => {
  const address = type === 'HTTP' ? { url: 'https://a.example/in' } : { webhookUrl: 'https://a.example/in' }
  for (const config of [address, { ...address, batchSize: 1 }]) {
    expect(batchLimitsOf(registry.find(type)!, config)).toBeUndefined()
  }
})

function requestOf(
  module: Parameters<typeof runTransform>[0],
  config: JsonObject,
  event: JsonObject,
  at: number,
): RequestObject {
  const mark = markOf(at)
  const traits = { email: `${mark}@mail.example` }
  const ids = { messageId: mark, userId: mark, groupId: mark, receivedAt: timestamp, timestamp }
  const stored = { ...ids, traits, context: { traits }, ...event }
  const metadata = { sourceId: 's', destinationId: 'd', destinationName: 'D', messageId: mark }
  const result = runTransform(module, stored as unknown as StoredEvent, config, metadata)
  if ('error' in result || result.requests.length !== 1) throw new Error(JSON.stringify(result))
  return result.requests[0]!
}

function markOf(at: number): string {
  return `mark-${String(at).padStart(4, '0')}`
}
