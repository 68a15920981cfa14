import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { requestObject } from '../../requests/request-object.ts'
import { documentedCases } from './documented-cases.ts'

const config = { apiKey: 'x7Hq2exampleApiKeyOnly' }
const stored = { messageId: 'm-88', receivedAt: '2026-03-04T09:15:31.900Z' }
const track = { type: 'track', event: 'Seat Reserved', userId: 'u-4711', ...stored }

function uploaded(event: JsonObject, host?: string) {
  return upload([event], host)
}

function uploadedAll(...events: JsonObject[]) {
  return upload(events)
}

function upload(events: JsonObject[], host = 'api2.amplitude.com') {
  const json = { api_key: 'x7Hq2exampleApiKeyOnly', events, options: { min_id_length: 1 } }
  const headers = { 'content-type': 'application/json' }
  const endpoint = `https://${host}/2/httpapi`
  return { requests: [requestObject({ method: 'POST', endpoint, headers, body: { JSON: json } })] }
}

function grouped(identification: string, host = 'api2.amplitude.com') {
  const form = { api_key: 'x7Hq2exampleApiKeyOnly', identification }
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const endpoint = `https://${host}/groupidentify`
  return { requests: [requestObject({ method: 'POST', endpoint, headers, body: { FORM: form } })] }
}

const plain = { event_properties: {}, user_properties: {} }
const reserved = { user_id: 'u-4711', event_type: 'Seat Reserved', insert_id: 'm-88', ...plain }

function others(): DestinationCase[] {
  const viewed = (event_type: string) => uploaded({ ...reserved, event_type })
  const identify = { type: 'identify', userId: 'u-4711', ...stored }
  const identified = (user_properties: JsonObject) =>
    uploaded({ ...reserved, event_type: '$identify', user_properties })
  const apple = { type: 'iOS', advertisingId: 'ad-1' }
  const table: [what: string, config: JsonObject, event: JsonObject, expected: DestinationCase['expected']][] = [
    ['a page', config, { ...track, type: 'page', name: 'Hall' }, viewed('Viewed Hall Page')],
    ['a page without a name', config, { ...track, type: 'page' }, viewed('Viewed Page')],
    ['a screen', config, { ...track, type: 'screen', name: 'Hall' }, viewed('Viewed Hall Screen')],
    ['a screen of a native library', config, { ...track, type: 'screen', event: 'Hall' }, viewed('Viewed Hall Screen')],
    ['an identify', config, { ...identify, traits: { plan: 'gold' } }, identified({ plan: 'gold' })],
    ['traits of the context', config, { ...identify, context: { traits: { a: 1 } } }, identified({ a: 1 })],
    ['own traits go first', config, { ...identify, traits: {}, context: { traits: { a: 1 } } }, identified({})],
    ['the European region', { ...config, region: 'EU' }, track, uploaded(reserved, 'api.eu.amplitude.com')],
    ['another region', { ...config, region: 'eu' }, track, { error: 'Unsupported region eu' }],
    [
      'an anonymous user',
      config,
      { ...track, userId: null, anonymousId: 'a-9' },
      uploaded({ device_id: 'a-9', event_type: 'Seat Reserved', insert_id: 'm-88', ...plain }),
    ],
    ['nobody', config, { ...track, userId: '' }, { error: 'userId or anonymousId is missing' }],
    ['an event without a name', config, { ...track, event: null }, { error: 'event is missing' }],
    [
      'no id for duplicates and a time of making',
      config,
      { ...track, messageId: null, originalTimestamp: '2026-03-04T09:15:27Z' },
      uploaded({ user_id: 'u-4711', event_type: 'Seat Reserved', time: 1_772_615_727_000, ...plain }),
    ],
    [
      'a session in milliseconds',
      config,
      { ...track, context: { sessionId: 1_772_615_700_123 } },
      uploaded({ ...reserved, session_id: 1_772_615_700_123 }),
    ],
    ['a session that is no number', config, { ...track, context: { sessionId: 's' } }, uploaded(reserved)],
    [
      'an Apple device in a place',
      config,
      {
        ...track,
        channel: 'mobile',
        context: {
          ip: '203.0.113.7',
          device: apple,
          network: { carrier: 'A1' },
          location: { country: 'AT', city: 'Graz', latitude: 47.07, longitude: 15.44, region: { no: 'text' } },
        },
      },
      uploaded({
        ...reserved,
        platform: 'iOS',
        carrier: 'A1',
        country: 'AT',
        city: 'Graz',
        location_lat: 47.07,
        location_lng: 15.44,
        ip: '203.0.113.7',
        idfa: 'ad-1',
      }),
    ],
    ...['watchOS', 'visionOS', 'tvOS'].map((name): [string, JsonObject, JsonObject, DestinationCase['expected']] => [
      `a device with ${name}`,
      config,
      { ...track, context: { os: { name }, device: { advertisingId: 'ad-1' } } },
      uploaded({ ...reserved, os_name: name, idfa: 'ad-1' }),
    ]),
    [
      'an Android device and a browser',
      config,
      { ...track, channel: 'web', context: { device: { advertisingId: 'ad-1', brand: 'Fairphone' } } },
      uploaded({ ...reserved, platform: 'Web', device_brand: 'Fairphone', adid: 'ad-1' }),
    ],
    [
      'a group of the usual type',
      config,
      { type: 'group', groupId: 12 },
      grouped('[{"group_type":"company","group_value":"12","group_properties":{}}]'),
    ],
    ['a group without an id', config, { type: 'group', userId: 'u-4711' }, { error: 'groupId is missing' }],
    ['no key', { region: 'US' }, track, { error: 'apiKey is missing' }],
  ]
  return table.map(([name, given, event, expected]) => ({ name, config: given, event, expected }))
}

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'
const MAC =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15'

type Row = [what: string, config: JsonObject, event: JsonObject, expected: DestinationCase['expected']]

/** What an event says of revenue, device and view. */
function mappings(): DestinationCase[] {
  const sold = (properties: JsonObject, revenue: JsonObject) =>
    [{ ...track, properties }, uploaded({ ...reserved, event_properties: properties, ...revenue })] as const
  const seen = (context: JsonObject, device: JsonObject, more: JsonObject = {}) =>
    [{ ...track, ...more, context }, uploaded({ ...reserved, ...device })] as const
  const safari = { os_name: 'Safari', os_version: '17.5', device_manufacturer: 'Apple' }
  const page = { ...track, type: 'page', name: 'Hall  B' }
  const viewed = (event_type: string, event_properties: JsonObject) =>
    uploaded({ ...reserved, event_type, event_properties })
  const cheese = { product_id: 'cheese', price: 4, quantity: 2.5 }
  const popcorn = { product_id: 'popcorn', price: 4, quantity: 0 }
  const purchased = (number: number, product: JsonObject) => ({
    ...reserved,
    event_type: 'Product Purchased',
    insert_id: `m-88-product-${number}`,
    event_properties: product,
  })
  const many = Array.from({ length: 2_000 }, () => ({ price: 1 }))
  const table: Row[] = [
    ['a revenue as text', config, ...sold({ revenue: '39.90' }, { revenue: 39.9 })],
    ['a refund', config, ...sold({ revenue: -5, sku: 7 }, { revenue: -5, productId: '7' })],
    ['a price without revenue is no revenue', config, ...sold({ price: 10, product_id: 'seat-b7' }, {})],
    [
      'a price that differs from the revenue stays a property',
      config,
      ...sold({ revenue: 80, price: 100, quantity: 1, revenueType: 'sale' }, { revenue: 80, revenueType: 'sale' }),
    ],
    ['a revenue that is no number', config, ...sold({ revenue: 'much', price: 1 }, {})],
    ['revenue is switched off', { ...config, revenue: 'none' }, ...sold({ revenue: 10 }, {})],
    [
      'revenue of a page does not count',
      config,
      { ...page, properties: { revenue: 1 } },
      viewed('Viewed Hall  B Page', { revenue: 1 }),
    ],
    [
      'revenue by product of an order without products',
      { ...config, revenue: 'product' },
      ...sold({ revenue: 10 }, { revenue: 10 }),
    ],
    [
      'revenue by product of half a quantity, and of none',
      { ...config, revenue: 'product' },
      { ...track, properties: { revenue: 10, products: [cheese, popcorn] } },
      uploadedAll(
        { ...reserved, event_properties: { revenue: 10, products: [cheese, popcorn] } },
        { ...purchased(1, cheese), price: 10, quantity: 1, productId: 'cheese' },
        purchased(2, popcorn),
      ),
    ],
    ['products that are only looked at', { ...config, revenue: 'product' }, ...sold({ products: [{ price: 10 }] }, {})],
    [
      'too many products',
      { ...config, revenue: 'product' },
      { ...track, properties: { revenue: 1, products: many } },
      { error: 'properties.products has 2000 products; Amplitude takes 1997 at once' },
    ],
    ['a phone by its user agent', config, ...seen({ userAgent: IPHONE }, { ...safari, device_model: 'iPhone' })],
    ['a computer by its user agent', config, ...seen({ userAgent: MAC }, { ...safari, device_model: 'macOS' })],
    [
      'an app by its user agent',
      config,
      ...seen(
        { userAgent: IPHONE },
        { os_name: 'iOS', os_version: '17.5', device_manufacturer: 'Apple', device_model: 'iPhone' },
        { channel: 'mobile' },
      ),
    ],
    [
      'the context goes before the user agent',
      config,
      ...seen(
        { userAgent: IPHONE, os: { name: 'Android', version: '15' }, device: { model: 'Pixel 8' } },
        { os_name: 'Android', os_version: '15', device_model: 'Pixel 8' },
      ),
    ],
    ['a user agent that names nothing', config, ...seen({ userAgent: 'curl/8.4.0' }, {})],
    [
      'an Android device with its id, and a market area',
      config,
      ...seen(
        { device: { type: 'Android', id: 'and-1' }, location: { dma: 'Graz' }, sessionId: '1772615700' },
        { session_id: 1_772_615_700_000, platform: 'Android', dma: 'Graz', android_id: 'and-1' },
      ),
    ],
    [
      'a screen by a template',
      { ...config, screenName: '{{context.app.name}}: {{name}}' },
      { ...track, type: 'screen', event: 'Hall', context: { app: { name: 'Cinema' } } },
      viewed('Cinema: Hall', { name: 'Hall' }),
    ],
    [
      'a page without a value of the template',
      { ...config, pageName: '{{name}} {{properties.hall}} seen' },
      page,
      viewed('Hall B seen', { name: 'Hall  B' }),
    ],
    [
      'a page without any value of the template',
      { ...config, pageName: '{{properties.hall}}' },
      page,
      { error: 'pageName gives no name: the event has none of its values' },
    ],
    ['a counter that is no whole number', { ...config, eventId: '{{properties.n}}' }, ...sold({ n: 1.5 }, {})],
  ]
  return table.map(([name, given, event, expected]) => ({ name, config: given, event, expected }))
}

/** What an event says of user, groups and aliases. */
function identities(): DestinationCase[] {
  const identify = (traits: JsonObject, more: JsonObject = {}) => ({
    type: 'identify',
    userId: 'u-4711',
    traits,
    ...stored,
    ...more,
  })
  const identified = (user_properties: JsonObject) =>
    uploaded({ ...reserved, event_type: '$identify', user_properties })
  const alias = { type: 'alias', userId: 'u-4711', previousId: 'u-12', ...stored }
  const mapping = (host: string) => ({
    requests: [
      requestObject({
        method: 'POST',
        endpoint: `https://${host}/usermap`,
        params: { mapping: '[{"user_id":"u-12","global_user_id":"u-4711"}]', api_key: 'x7Hq2exampleApiKeyOnly' },
      }),
    ],
  })
  const groupTraits = { ...config, groupTraits: ['team', 'none', 'empty'] }
  const campaign = { page: { url: 'https://www.cinema.example/', referrer: 'https://www.cinema.example/a' } }
  const table: Row[] = [
    ['an alias', { ...config, mapAlias: true, region: 'EU' }, alias, mapping('api.eu.amplitude.com')],
    ['an alias that is not wanted', config, alias, { error: 'message type alias not supported' }],
    ['an alias of nobody', { ...config, mapAlias: true }, { ...alias, userId: null }, { error: 'userId is missing' }],
    [
      'an alias without the former id',
      { ...config, mapAlias: true },
      { ...alias, previousId: '' },
      { error: 'previousId is missing' },
    ],
    [
      'several groups',
      groupTraits,
      { ...track, context: { traits: { team: ['a', 7, null], empty: [] } } },
      uploaded({ ...reserved, user_properties: { team: ['a', 7, null], empty: [] }, groups: { team: ['a', '7'] } }),
    ],
    [
      'a trait that cannot be added',
      { ...config, addTraits: ['visits'] },
      identify({ visits: 'many' }),
      { error: 'traits.visits must be a number, because addTraits lists it' },
    ],
    [
      'a trait to remove that has a value',
      { ...config, unsetTraits: ['plan'], setOnceTraits: ['a'] },
      identify({ plan: 'gold', a: 1 }),
      identified({ $set: { plan: 'gold' }, $setOnce: { a: 1 } }),
    ],
    ['no trait of an operation', { ...config, setOnceTraits: ['a'] }, identify({ b: 1 }), identified({ b: 1 })],
    [
      'traits of an operation stay out of other events',
      { ...config, setOnceTraits: ['a'] },
      { ...track, context: { traits: { a: 1, b: 2 } } },
      uploaded({ ...reserved, user_properties: { b: 2 } }),
    ],
    [
      'a list that is none',
      { ...config, setOnceTraits: 'a', groupTraits: { a: 1 } },
      identify({ a: 1 }),
      identified({ a: 1 }),
    ],
    [
      'a referrer of the same site',
      { ...config, attribution: true },
      { ...track, context: campaign },
      uploaded(reserved),
    ],
    [
      'the campaign of an identify',
      { ...config, attribution: true },
      identify({ plan: 'gold' }, { context: { campaign: { source: 'news' } } }),
      identified({ $set: { utm_source: 'news', plan: 'gold' }, $setOnce: { initial_utm_source: 'news' } }),
    ],
  ]
  return table.map(([name, given, event, expected]) => ({ name, config: given, event, expected }))
}

function uploadOf(users: readonly string[], route: string) {
  const events = users.map((user_id) => ({
    user_id,
    event_type: 'Seat Reserved',
    insert_id: 'm-88',
    event_properties: {},
    user_properties: {},
  }))
  return requestObject({
    method: 'POST',
    endpoint: `https://api2.amplitude.com${route}`,
    headers: { 'content-type': 'application/json' },
    body: { JSON: { api_key: 'x7Hq2exampleKeyOnly', events, options: { min_id_length: 1 } } },
  })
}

const tenUsers = Array.from({ length: 10 }, (_, n) => `u-${n}`)
const batched: DestinationCase[] = [
  ['ten uploads in one request', tenUsers.slice(1), '/2/httpapi'] as const,
  ['more than ten by the batch endpoint', tenUsers, '/batch'] as const,
].map(([name, users, route]) => ({
  name,
  config: { apiKey: 'x7Hq2exampleKeyOnly' },
  event: { type: 'track', event: 'Seat Reserved', userId: 'u-first', messageId: 'm-88' },
  batch: {
    events: users.map((userId) => ({ type: 'track', event: 'Seat Reserved', userId, messageId: 'm-88' })),
    expected: uploadOf(['u-first', ...users], route),
  },
  expected: { requests: [uploadOf(['u-first'], '/2/httpapi')] },
}))

export const cases: DestinationCase[] = [...documentedCases, ...others(), ...mappings(), ...identities(), ...batched]
