import { createHash } from 'node:crypto'
import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { requestObject } from '../../requests/request-object.ts'
import { documentedCases } from './documented-cases.ts'

const config = { pixelId: '1234567890', accessToken: 'EAAx7Hq2-example-token' }
const timestamp = '2026-03-04T09:15:27.120Z'
const track = { type: 'track', event: 'Seat Reserved', userId: 'u-4711', messageId: 'm-88', timestamp }

type Expected = DestinationCase['expected']
type Row = [what: string, config: JsonObject, event: JsonObject, expected: Expected]

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const posted = (...data: JsonObject[]) => postedTo('v26.0', data)

function postedTo(version: string, data: JsonObject[]) {
  return requestObject({
    method: 'POST',
    endpoint: `https://graph.facebook.com/${version}/1234567890/events`,
    headers: { authorization: 'Bearer EAAx7Hq2-example-token', 'content-type': 'application/json' },
    body: { JSON: { data } },
  })
}

const serverEvent = (change: JsonObject = {}) => ({
  event_name: 'Seat Reserved',
  event_time: 1772615727,
  event_id: 'm-88',
  action_source: 'system_generated',
  user_data: { external_id: [sha256('u-4711')] },
  ...change,
})
const sent = (change?: JsonObject): Expected => ({ requests: [posted(serverEvent(change))] })
const withUser = (user_data: JsonObject) => sent({ user_data })

function others(): DestinationCase[] {
  const nobody = 'Facebook needs a person: the event has no email, phone, userId, anonymousId, address or user agent'
  const traits = (members: JsonObject) => ({ ...track, userId: '', context: { traits: members } })
  const hash = sha256('ada@mail.example')
  const hashedTraits = { phone: hash, lastName: hash, gender: hash, birthday: hash }
  const named = (event: string, properties: JsonObject = {}) => ({ ...track, event, properties })
  const table: Row[] = [
    ['an event of a server', config, track, sent()],
    ['another version', { ...config, apiVersion: 'v27.0' }, track, { requests: [postedTo('v27.0', [serverEvent()])] }],
    ['an event without a name', config, { ...track, event: '' }, { error: 'event is missing' }],
    ['an event without a time', config, { ...track, timestamp: 'soon' }, { error: 'timestamp is missing' }],
    ['an event of nobody', config, { ...track, userId: '' }, { error: nobody }],
    ['no token', { pixelId: '1' }, track, { error: 'accessToken is missing' }],
    ['no pixel', { accessToken: 'x' }, track, { error: 'pixelId is missing' }],
    ['an e-mail address that is hashed', config, traits({ email: hash }), withUser({ em: [hash] })],
    ['a name that is hashed', config, traits({ firstName: hash }), withUser({ fn: [hash] })],
    [
      'a person of hashes alone',
      config,
      traits({ ...hashedTraits, address: { city: hash, state: hash, postalCode: hash, country: hash } }),
      withUser({
        ph: [hash],
        ln: [hash],
        ge: [hash],
        db: [hash],
        ct: [hash],
        st: [hash],
        zp: [hash],
        country: [hash],
      }),
    ],
    [
      'a name in decomposed letters',
      config,
      traits({ firstName: 'Ju\u0308rgen', lastName: 'Va\u0301clav' }),
      withUser({ fn: [sha256('j\u00fcrgen')], ln: [sha256('v\u00e1clav')] }),
    ],
    [
      'a phone number with (0)',
      config,
      traits({ phone: '+43 (0)660 12345' }),
      withUser({ ph: [sha256('4366012345')] }),
    ],
    ['a zip code with further digits', config, traits({ zip: '94025-1234' }), withUser({ zp: [sha256('94025')] })],
    [
      'a phone number with zeros',
      config,
      traits({ phone: '0043 660 12345' }),
      withUser({ ph: [sha256('4366012345')] }),
    ],
    [
      'a country by its name',
      config,
      traits({ country: 'Austria', gender: 'x', email: 'a@b.example' }),
      withUser({ em: [sha256('a@b.example')] }),
    ],
    [
      'a cookie in the properties',
      config,
      { ...named('Seat Reserved', { fbp: 'fb.1.2.3' }), userId: '' },
      withUser({ fbp: 'fb.1.2.3' }),
    ],
    [
      'a user agent of any length',
      config,
      { ...track, userId: '', context: { userAgent: 'x'.repeat(2_000) } },
      withUser({ client_user_agent: 'x'.repeat(1_000) }),
    ],
    ...(
      [
        ['Signed Up', 'CompleteRegistration'],
        ['Checkout Started', 'InitiateCheckout'],
        ['payment_info_entered', 'AddPaymentInfo'],
        ['Product Added to Wishlist', 'AddToWishlist'],
        ['productAdded', 'AddToCart'],
      ] as const
    ).map(([event, event_name]): [string, JsonObject, JsonObject, Expected] => [
      `the name ${event}`,
      config,
      named(event),
      sent({ event_name }),
    ]),
    [
      'a search',
      config,
      named('Products Searched', { query: 'drama' }),
      sent({ event_name: 'Search', custom_data: { search_string: 'drama' } }),
    ],
    [
      'a purchase without a value',
      config,
      named('Order Completed', { currency: 'EUR' }),
      { error: 'properties.total is missing: Facebook requires the value of a purchase' },
    ],
    [
      'a value summed over the products',
      config,
      named('Order Completed', { currency: 'EUR', products: [{ sku: 7, price: '2.50', quantity: 2 }] }),
      sent({
        event_name: 'Purchase',
        custom_data: {
          value: 5,
          currency: 'EUR',
          content_ids: ['7'],
          contents: [{ id: '7', quantity: 2, item_price: 2.5 }],
          content_type: 'product',
          num_items: 2,
        },
      }),
    ],
    [
      'a product of half a quantity, and one of none',
      config,
      named('Order Completed', {
        currency: 'EUR',
        products: [
          { sku: 'cheese', price: 4, quantity: 2.5 },
          { sku: 'popcorn', price: 4, quantity: 0 },
        ],
      }),
      sent({
        event_name: 'Purchase',
        custom_data: {
          value: 10,
          currency: 'EUR',
          content_ids: ['cheese'],
          contents: [{ id: 'cheese', quantity: 1, item_price: 10 }],
          content_type: 'product',
          num_items: 1,
        },
      }),
    ],
    ...['website', 'physical_store', 'phone_call', 'chat', 'email', 'system_generated', 'other'].map(
      (actionSource): Row => [
        `the source of the configuration: ${actionSource}`,
        { ...config, actionSource },
        { ...track, channel: actionSource === 'website' ? 'server' : 'web' },
        sent({ action_source: actionSource }),
      ],
    ),
    ['an app by the configuration alone', { ...config, actionSource: 'app' }, track, sent({ action_source: 'app' })],
    [
      'an app on another system',
      config,
      { ...track, channel: 'mobile', context: { os: { name: 'Linux' } } },
      sent({ action_source: 'app' }),
    ],
    [
      'an Android app that may not track',
      config,
      { ...track, channel: 'mobile', context: { device: { type: 'Android' } } },
      sent({
        action_source: 'app',
        app_data: {
          advertiser_tracking_enabled: 0,
          application_tracking_enabled: 0,
          extinfo: ['a2', ...Array(15).fill('')],
        },
      }),
    ],
    [
      'data processing options of the event',
      { ...config, limitedDataUse: true },
      { ...track, context: { dataProcessingOptions: [['LDU'], 1, 1000] } },
      sent({
        data_processing_options: ['LDU'],
        data_processing_options_country: 1,
        data_processing_options_state: 1000,
      }),
    ],
    [
      'an event that lifts limited data use',
      { ...config, limitedDataUse: true },
      { ...track, context: { dataProcessingOptions: [[]] } },
      sent({ data_processing_options: [] }),
    ],
    ['names that are no list', { ...config, eventNames: 'x', customProperties: 'x' }, track, sent()],
  ]
  return table.map(([name, given, event, expected]) => ({ name, config: given, event, expected }))
}

const aged: DestinationCase[] = [
  {
    name: 'an event just under seven days old',
    config,
    event: track,
    now: '2026-03-11T09:15:27.120Z',
    expected: sent(),
  },
  {
    name: 'an event over seven days old',
    config,
    event: track,
    now: '2026-03-11T09:15:27.121Z',
    expected: { error: 'Facebook refuses events older than 7 days: this one is from 2026-03-04T09:15:27.120Z' },
  },
  {
    name: 'an older event of a store',
    config: { ...config, actionSource: 'physical_store' },
    event: track,
    now: '2026-03-20T09:15:27.120Z',
    expected: sent({ action_source: 'physical_store' }),
  },
]

const batched: DestinationCase[] = [
  {
    name: 'events in one request',
    config,
    event: track,
    batch: {
      events: [{ ...track, messageId: 'm-89' }],
      expected: posted(serverEvent(), serverEvent({ event_id: 'm-89' })),
    },
    expected: sent(),
  },
]

export const cases: DestinationCase[] = [...documentedCases, ...others(), ...aged, ...batched]
