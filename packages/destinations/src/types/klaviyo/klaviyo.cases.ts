import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { requestObject } from '../../requests/request-object.ts'
import { documentedCases } from './documented-cases.ts'

const config = { apiKey: 'pk_x7Hq2-example-key-only' }
const track = { type: 'track', event: 'Seat Reserved', userId: 'u-4711', messageId: 'm-88' }

type Expected = DestinationCase['expected']

function sent(route: string, json: JsonObject, revision = '2026-07-15') {
  return requestObject({
    method: 'POST',
    endpoint: `https://a.klaviyo.com${route}`,
    headers: {
      authorization: 'Klaviyo-API-Key pk_x7Hq2-example-key-only',
      accept: 'application/vnd.api+json',
      revision,
      'content-type': 'application/vnd.api+json',
    },
    body: { JSON: json },
  })
}

const metric = (name: string) => ({ data: { type: 'metric', attributes: { name } } })
const profileOf = (attributes: JsonObject) => ({ data: { type: 'profile', attributes } })
const ownAttributes = (name = 'Seat Reserved') => ({ properties: {}, metric: metric(name), unique_id: 'm-88' })

function occurred(change: JsonObject = {}, profile: JsonObject = profileOf({ external_id: 'u-4711' })): Expected {
  const attributes = { ...ownAttributes(), ...change, profile }
  return { requests: [sent('/api/events', { data: { type: 'event', attributes } })] }
}

function imported(attributes: JsonObject): Expected {
  return { requests: [sent('/api/profile-import', { data: { type: 'profile', attributes } })] }
}

function others(): DestinationCase[] {
  const identify = (traits: JsonObject, change: JsonObject = {}) => ({
    type: 'identify',
    userId: 'u-4711',
    traits,
    ...change,
  })
  const nobody =
    'Klaviyo needs a user: the event has no email, no phone with country code, no userId and no anonymousId'
  const order = { ...track, event: 'Order Completed' }
  const table: [what: string, config: JsonObject, event: JsonObject, expected: Expected][] = [
    ['an event', config, track, occurred()],
    ['an event of nobody', config, { ...track, userId: '' }, { error: nobody }],
    ['an event without a name', config, { ...track, event: '' }, { error: 'event is missing' }],
    ['no key', {}, track, { error: 'apiKey is missing' }],
    [
      'a user named in the properties',
      config,
      { ...track, userId: null, properties: { email: 'a@b.example' } },
      occurred({ properties: { email: 'a@b.example' } }, profileOf({ email: 'a@b.example' })),
    ],
    [
      'a known user, and the address and phone number of another person in the properties',
      config,
      { ...track, properties: { email: 'friend@mail.example', phone: '+436601234567' } },
      occurred({ properties: { email: 'friend@mail.example', phone: '+436601234567' } }),
    ],
    [
      'a user known by the id of Klaviyo',
      config,
      { ...track, userId: '', context: { externalId: [{ type: 'klaviyoProfileId', id: '01K' }] } },
      occurred({}, { data: { type: 'profile', id: '01K', attributes: {} } }),
    ],
    [
      'a product in any spelling',
      config,
      { ...track, event: 'product_added', properties: { price: '4.50', quantity: 2 } },
      occurred({ properties: { price: '4.50', quantity: 2 }, metric: metric('Added to Cart'), value: 9 }),
    ],
    ['own names', { ...config, metricNames: 'own' }, order, occurred({ metric: metric('Order Completed') })],
    [
      'an order without a list of products',
      { ...config, orderedProducts: true },
      order,
      occurred({ metric: metric('Placed Order') }),
    ],
    [
      'more products than a job takes',
      { ...config, orderedProducts: true },
      { ...order, properties: { products: Array(1_000).fill({ price: 1 }) } },
      { error: 'properties.products has 1000 products; Klaviyo takes 999 at once' },
    ],
    [
      'a screen',
      config,
      { ...track, type: 'screen', name: 'Hall' },
      occurred({ properties: { name: 'Hall' }, metric: metric('Viewed Hall Screen') }),
    ],
    [
      'a currency without a value',
      config,
      { ...track, properties: { currency: 'EUR' } },
      occurred({ properties: { currency: 'EUR' } }),
    ],
    [
      'a company by its name',
      config,
      identify({ company: 'Cinema' }),
      imported({ external_id: 'u-4711', organization: 'Cinema' }),
    ],
    [
      'a place of the device',
      config,
      identify({}, { context: { location: { latitude: 47.07, longitude: 15.44 } } }),
      imported({ external_id: 'u-4711', location: { latitude: 47.07, longitude: 15.44 } }),
    ],
    [
      'a trait that may be removed and is not',
      { ...config, unsetTraits: ['plan'] },
      identify({ plan: 'gold' }),
      imported({ external_id: 'u-4711', properties: { plan: 'gold' } }),
    ],
    [
      'a phone number with 00',
      config,
      identify({ phone: '0043 (660) 1234567' }),
      imported({ phone_number: '+436601234567', external_id: 'u-4711' }),
    ],
    [
      'a phone number with (0)',
      config,
      identify({ phone: '+43 (0)660 1234567' }),
      imported({ phone_number: '+436601234567', external_id: 'u-4711' }),
    ],
    ...[
      ['2.5', 10],
      [0, 0],
      [-1, 4],
    ].map(([quantity, value]): [string, JsonObject, JsonObject, Expected] => [
      `a product of quantity ${quantity}`,
      config,
      { ...track, properties: { price: 4, quantity: quantity! } },
      occurred({ properties: { price: 4, quantity: quantity! }, value: value! }),
    ]),
  ]
  return table.map(([name, given, event, expected]) => ({ name, config: given, event, expected }))
}

const entryOf = (userId: string) => ({
  type: 'event-bulk-create',
  attributes: {
    profile: profileOf({ external_id: userId }),
    events: { data: [{ type: 'event', attributes: ownAttributes() }] },
  },
})
const profile = (userId: string) => ({ type: 'profile', attributes: { external_id: userId } })

const revised: DestinationCase = {
  name: 'another revision',
  config: { ...config, apiVersion: '2026-10-15' },
  event: track,
  expected: {
    requests: [
      sent(
        '/api/events',
        { data: { type: 'event', attributes: { ...ownAttributes(), profile: profileOf({ external_id: 'u-4711' }) } } },
        '2026-10-15',
      ),
    ],
  },
}

const batched: DestinationCase[] = [
  {
    name: 'events in one job',
    config,
    event: track,
    batch: {
      events: [{ ...track, userId: 'u-2' }],
      expected: sent('/api/event-bulk-create-jobs', {
        data: {
          type: 'event-bulk-create-job',
          attributes: { 'events-bulk-create': { data: [entryOf('u-4711'), entryOf('u-2')] } },
        },
      }),
    },
    expected: occurred(),
  },
  {
    name: 'profiles in one job',
    config: { ...config, bulkProfiles: true },
    event: { type: 'identify', userId: 'u-1' },
    batch: {
      events: [{ type: 'identify', userId: 'u-2' }],
      expected: sent('/api/profile-bulk-import-jobs', {
        data: { type: 'profile-bulk-import-job', attributes: { profiles: { data: [profile('u-1'), profile('u-2')] } } },
      }),
    },
    expected: {
      requests: [
        sent('/api/profile-bulk-import-jobs', {
          data: { type: 'profile-bulk-import-job', attributes: { profiles: { data: [profile('u-1')] } } },
        }),
      ],
    },
  },
]

export const cases: DestinationCase[] = [...documentedCases, ...others(), revised, ...batched]
