import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { requestObject } from '../../requests/request-object.ts'

const accessToken = 'dG9rOmV4YW1wbGVPbmx5eDdIcTI='
const timestamp = '2026-03-04T09:15:31.900Z'
const track = { type: 'track', event: 'Seat Reserved', userId: 'u-4711', timestamp }

function request(path: string, version: string, json: JsonObject, origin = 'https://api.intercom.io') {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    'intercom-version': version,
    authorization: `Bearer ${accessToken}`,
  }
  return requestObject({ method: 'POST', endpoint: `${origin}${path}`, headers, body: { JSON: json } })
}

const user = (json: JsonObject) => ({ requests: [request('/users', '1.1', json)] })
const submitted = (json: JsonObject) => ({ requests: [request('/events', '2.15', json)] })

const shown: DestinationCase[] = [
  {
    name: 'An identify creates or updates a user',
    config: { accessToken },
    event: {
      type: 'identify',
      userId: 'u-4711',
      traits: {
        email: 'ada@mail.example',
        firstName: 'Ada',
        lastName: 'King',
        phone: '+43 316 4711',
        createdAt: '2026-01-05T10:00:00Z',
        plan: 'gold',
        seats: 2,
        company: { id: 'c-12', name: 'Cinema Graz' },
      },
    },
    expected: user({
      user_id: 'u-4711',
      email: 'ada@mail.example',
      name: 'Ada King',
      phone: '+43 316 4711',
      signed_up_at: 1_767_607_200,
      custom_attributes: { plan: 'gold', seats: 2 },
      companies: [{ company_id: 'c-12', name: 'Cinema Graz' }],
    }),
  },
  {
    name: 'A track submits a data event',
    config: { accessToken, region: 'EU' },
    event: {
      type: 'track',
      event: 'Order Completed',
      userId: 'u-4711',
      timestamp: '2026-03-04T09:15:31.900Z',
      properties: { order_id: 'o-12', revenue: 39.9, currency: 'EUR' },
      context: { traits: { email: 'ada@mail.example' } },
    },
    expected: {
      requests: [
        request(
          '/events',
          '2.15',
          {
            event_name: 'Order Completed',
            created_at: 1_772_615_731,
            user_id: 'u-4711',
            email: 'ada@mail.example',
            metadata: {
              order_id: 'o-12',
              revenue: 39.9,
              currency: 'EUR',
              price: { amount: 3_990, currency: 'eur' },
            },
          },
          'https://api.eu.intercom.io',
        ),
      ],
    },
  },
  {
    name: 'A group creates or updates a company and adds the user',
    config: { accessToken },
    event: {
      type: 'group',
      groupId: 'c-12',
      userId: 'u-4711',
      traits: { name: 'Cinema Graz', plan: 'pro', employees: 40, monthlySpend: 500, halls: 3 },
    },
    expected: {
      requests: [
        request('/companies', '2.15', {
          company_id: 'c-12',
          name: 'Cinema Graz',
          plan: 'pro',
          size: 40,
          monthly_spend: 500,
          custom_attributes: { halls: 3 },
        }),
        request('/users', '1.1', { user_id: 'u-4711', companies: [{ company_id: 'c-12' }] }),
      ],
    },
  },
  {
    name: 'An anonymous user is refused',
    config: { accessToken },
    event: { type: 'track', event: 'Seat Reserved', anonymousId: 'a-9', timestamp: '2026-03-04T09:15:31.900Z' },
    expected: { error: 'userId or traits.email is missing' },
  },
]

const others: [what: string, config: JsonObject, event: JsonObject, expected: DestinationCase['expected']][] = [
  [
    'a user with an address only',
    {},
    { type: 'identify', traits: { email: 'ada@mail.example', name: 'Ada King', company: 'Cinema' } },
    user({ email: 'ada@mail.example', name: 'Ada King' }),
  ],
  [
    'a time in milliseconds, and a company without an id',
    {},
    { type: 'identify', userId: 'u-1', traits: { createdAt: 1_767_607_200_000, company: { name: 'Cinema' } } },
    user({ user_id: 'u-1', signed_up_at: 1_767_607_200 }),
  ],
  [
    'a time in seconds, and a company with a number',
    {},
    { type: 'identify', userId: 'u-1', traits: { created_at: 1_767_607_200, company: { id: 12 } } },
    user({ user_id: 'u-1', signed_up_at: 1_767_607_200, companies: [{ company_id: '12' }] }),
  ],
  [
    'an anonymous group',
    { region: 'AU' },
    { type: 'group', groupId: 7 },
    { requests: [request('/companies', '2.15', { company_id: '7' }, 'https://api.au.intercom.io')] },
  ],
  [
    'an event without properties',
    {},
    track,
    submitted({ event_name: 'Seat Reserved', created_at: 1_772_615_731, user_id: 'u-4711' }),
  ],
  [
    'a revenue without a currency',
    {},
    { ...track, properties: { revenue: 5, seats: [1] } },
    submitted({
      event_name: 'Seat Reserved',
      created_at: 1_772_615_731,
      user_id: 'u-4711',
      metadata: { revenue: 5 },
    }),
  ],
  [
    'an event whose properties hold the address of another person',
    {},
    { ...track, properties: { email: 'friend@mail.example' } },
    submitted({
      event_name: 'Seat Reserved',
      created_at: 1_772_615_731,
      user_id: 'u-4711',
      metadata: { email: 'friend@mail.example' },
    }),
  ],
  [
    'an event by another version',
    { apiVersion: '2.16' },
    track,
    {
      requests: [
        request('/events', '2.16', { event_name: 'Seat Reserved', created_at: 1_772_615_731, user_id: 'u-4711' }),
      ],
    },
  ],
  ['an event without a time', {}, { ...track, timestamp: null }, { error: 'timestamp is missing' }],
  ['an event without a name', {}, { ...track, event: '' }, { error: 'event is missing' }],
  ['a group without an id', {}, { type: 'group' }, { error: 'groupId is missing' }],
  ['another region', { region: 'Mars' }, track, { error: 'Unsupported region Mars' }],
  ['no token', { accessToken: '' }, track, { error: 'accessToken is missing' }],
]

export const cases: DestinationCase[] = [
  ...shown.map((each) => ({ ...each, documented: true as const })),
  ...others.map(([name, config, event, expected]) => ({ name, config: { accessToken, ...config }, event, expected })),
]
