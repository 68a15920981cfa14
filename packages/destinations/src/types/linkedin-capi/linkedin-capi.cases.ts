import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { requestObject } from '../../requests/request-object.ts'

const config = {
  accessToken: 'x7Hq2exampleOnlyToken',
  conversions: [{ eventName: 'Signed Up', conversionId: '104012' }],
}
const ADA = '5b48ec4e1914e24663c2fe34b93e3e93062530ae5f5c7ea128cfe9a08bdbcc85'
const BEN = 'dd8da1a0f234762a7470f907ccaf6a10d7bfb4a3de18d5a8de71fc1f7731f747'
const context = { traits: { email: 'ada@mail.example' } }
const stored = { messageId: 'm-88', timestamp: '2026-03-04T09:15:31.900Z' }
const track = { type: 'track', event: 'Signed Up', userId: 'u-4711', context, ...stored }

function request(elements: JsonObject[], version = '202603') {
  const headers = {
    'content-type': 'application/json',
    'linkedin-version': version,
    'x-restli-protocol-version': '2.0.0',
    'x-restli-method': 'BATCH_CREATE',
    authorization: 'Bearer x7Hq2exampleOnlyToken',
  }
  const endpoint = 'https://api.linkedin.com/rest/conversionEvents'
  return requestObject({ method: 'POST', endpoint, headers, body: { JSON: { elements } } })
}

const streamed = (element: JsonObject, version?: string) => ({ requests: [request([element], version)] })
const byEmail = { userIds: [{ idType: 'SHA256_EMAIL', idValue: ADA }] }
const signUp = {
  conversion: 'urn:lla:llaPartnerConversion:104012',
  conversionHappenedAt: 1_772_615_731_900,
  user: byEmail,
  eventId: 'm-88',
}

const shown: DestinationCase[] = [
  {
    name: 'An event is streamed to its conversion',
    config: { ...config, conversions: [{ eventName: 'Order *', conversionId: '104013' }] },
    event: {
      type: 'track',
      event: 'Order Completed',
      userId: 'u-4711',
      messageId: 'm-88',
      timestamp: '2026-03-04T09:15:31.900Z',
      properties: { total: 39.9, currency: 'eur', li_fat_id: 'df5gf5-gh6t7-ph4j7h-fgf6n1' },
      context: {
        traits: {
          email: 'Ada@mail.example',
          firstName: 'Ada',
          lastName: 'King',
          title: 'Engineer',
          company: { name: 'Cinema Graz' },
          address: { country: 'at' },
        },
      },
    },
    expected: streamed({
      conversion: 'urn:lla:llaPartnerConversion:104013',
      conversionHappenedAt: 1_772_615_731_900,
      conversionValue: { currencyCode: 'EUR', amount: '39.9' },
      user: {
        userIds: [
          { idType: 'SHA256_EMAIL', idValue: ADA },
          { idType: 'LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID', idValue: 'df5gf5-gh6t7-ph4j7h-fgf6n1' },
        ],
        userInfo: {
          firstName: 'Ada',
          lastName: 'King',
          title: 'Engineer',
          companyName: 'Cinema Graz',
          countryCode: 'AT',
        },
      },
      eventId: 'm-88',
    }),
  },
  {
    name: 'A user by name, and another version',
    config: { ...config, apiVersion: '202607' },
    event: {
      type: 'track',
      event: 'Signed Up',
      messageId: 'm-88',
      timestamp: '2026-03-04T09:15:31.900Z',
      context: { traits: { name: 'Ada King', companyName: 'Cinema Graz' } },
    },
    expected: streamed(
      {
        ...signUp,
        user: { userIds: [], userInfo: { firstName: 'Ada', lastName: 'King', companyName: 'Cinema Graz' } },
      },
      '202607',
    ),
  },
  {
    name: 'An event that identifies no person is refused',
    config,
    event: { type: 'track', event: 'Signed Up', userId: 'u-4711', timestamp: '2026-03-04T09:15:31.900Z' },
    expected: {
      error: 'traits.email, properties.li_fat_id, or traits.firstName and traits.lastName are missing',
    },
  },
]

const others: [what: string, config: JsonObject, event: JsonObject, expected: DestinationCase['expected']][] = [
  ['an event that is not listed', {}, { ...track, event: 'Signed In' }, { requests: [] }],
  ['a list that is none', { conversions: 'x' }, track, { requests: [] }],
  ['an amount without a currency', {}, { ...track, properties: { total: 5 } }, streamed(signUp)],
  [
    'an id of a click in the traits',
    {},
    { ...track, context: { traits: { li_fat_id: 'df5' } } },
    streamed({
      ...signUp,
      user: { userIds: [{ idType: 'LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID', idValue: 'df5' }] },
    }),
  ],
  [
    'a country that is no code, and a company by its name',
    {},
    { ...track, context: { traits: { firstName: 'Ada', lastName: 'King', country: 'Austria', company: 'Cinema' } } },
    streamed({
      ...signUp,
      user: { userIds: [], userInfo: { firstName: 'Ada', lastName: 'King', companyName: 'Cinema' } },
    }),
  ],
  ['an event without a time', {}, { ...track, timestamp: null }, { error: 'timestamp is missing' }],
  ['no token', { accessToken: '' }, track, { error: 'accessToken is missing' }],
]

const batched: DestinationCase = {
  name: 'two events in one request',
  config,
  event: track,
  batch: {
    events: [{ ...track, messageId: 'm-89', context: { traits: { email: 'ben@mail.example' } } }],
    expected: request([
      signUp,
      { ...signUp, eventId: 'm-89', user: { userIds: [{ idType: 'SHA256_EMAIL', idValue: BEN }] } },
    ]),
  },
  expected: streamed(signUp),
}

const ages: DestinationCase[] = [
  {
    name: 'an event that is too old',
    config,
    now: '2026-06-03T09:15:31.900Z',
    event: track,
    expected: { error: 'LinkedIn rejects events older than 90 days: this one is from 2026-03-04T09:15:31.900Z' },
  },
  { name: 'an event of 90 days', config, now: '2026-06-02T09:15:31.900Z', event: track, expected: streamed(signUp) },
]

export const cases: DestinationCase[] = [
  ...shown.map((each) => ({ ...each, documented: true as const })),
  ...others.map(([name, own, event, expected]) => ({ name, config: { ...config, ...own }, event, expected })),
  batched,
  ...ages,
]
