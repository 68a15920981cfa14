import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'

/** The examples of docs/destinations/ga4.md, in its order. */

const web = { measurementId: 'G-12345678', apiSecret: 'x7Hq2exampleSecretOnly' }
const ada = { anonymousId: 'a-9', userId: 'u-4711' }

function request(json: JsonObject, path = '/mp/collect'): RequestObject {
  return requestObject({
    method: 'POST',
    endpoint: `https://www.google-analytics.com${path}`,
    headers: { 'content-type': 'application/json' },
    params: { measurement_id: 'G-12345678', api_secret: 'x7Hq2exampleSecretOnly' },
    body: { JSON: json },
  })
}

function sent(json: JsonObject, path?: string): DestinationCase['expected'] {
  return { requests: [request(json, path)] }
}

function ofAda(name: string, params: JsonObject, more: JsonObject = {}): DestinationCase['expected'] {
  return sent({ client_id: 'a-9', user_id: 'u-4711', ...more, events: [{ name, params }] })
}

type Example = [
  name: string,
  config: JsonObject,
  event: JsonObject,
  expected: DestinationCase['expected'],
  more?: Pick<DestinationCase, 'now' | 'testOnly' | 'batch'>,
]

const ORDERS: Example[] = [
  [
    'An order is a purchase',
    web,
    {
      type: 'track',
      event: 'Order Completed',
      ...ada,
      timestamp: '2026-03-04T09:15:27.120Z',
      properties: {
        order_id: 'A-1001',
        total: 39.9,
        currency: 'EUR',
        products: [{ product_id: 'seat-b7', name: 'Seat B7', price: 39.9, quantity: 1 }],
      },
      context: { sessionId: 1772615700 },
    },
    ofAda(
      'purchase',
      {
        transaction_id: 'A-1001',
        value: 39.9,
        currency: 'EUR',
        items: [{ item_id: 'seat-b7', item_name: 'Seat B7', price: 39.9, quantity: 1 }],
        session_id: '1772615700',
        engagement_time_msec: 1,
      },
      { timestamp_micros: 1772615727120000 },
    ),
  ],
  [
    'A name in another spelling, and numbers as text',
    web,
    {
      type: 'track',
      event: 'order completed',
      ...ada,
      properties: {
        order_id: '1002',
        revenue: '39.90',
        shipping: '2',
        tax: '0.0',
        products: [{ sku: 'seat-b7', price: '19.95', quantity: '2', position: '1', coupon: '2026' }],
      },
    },
    ofAda('purchase', {
      transaction_id: '1002',
      value: 39.9,
      shipping: 2,
      tax: 0,
      items: [{ item_id: 'seat-b7', price: 19.95, quantity: 2, index: 1, coupon: '2026' }],
    }),
  ],
  [
    'A step of the checkout',
    web,
    { type: 'track', event: 'Checkout Step Completed', ...ada, properties: { step: '2', payment_method: 'Visa' } },
    ofAda('checkout_progress', { checkout_step: 2, payment_method: 'Visa' }),
  ],
  [
    'Payment info',
    web,
    {
      type: 'track',
      event: 'Payment Info Entered',
      ...ada,
      properties: { order_id: 'A-1001', payment_method: 'Visa' },
    },
    ofAda('add_payment_info', { transaction_id: 'A-1001', payment_type: 'Visa' }),
  ],
  [
    'Shipping info',
    web,
    { type: 'track', event: 'Shipping Info Entered', ...ada, properties: { shipping_method: 'Courier' } },
    ofAda('add_shipping_info', { shipping_tier: 'Courier' }),
  ],
  [
    'A coupon',
    web,
    {
      type: 'track',
      event: 'Coupon Applied',
      ...ada,
      properties: { order_id: 'A-1001', coupon_id: 'c-3', coupon_name: 'MATINEE', discount: 5 },
    },
    ofAda('coupon_applied', { transaction_id: 'A-1001', coupon_id: 'c-3', coupon: 'MATINEE', discount: 5 }),
  ],
]

const OTHER_EVENTS: Example[] = [
  [
    'A shared product',
    web,
    {
      type: 'track',
      event: 'Product Shared',
      ...ada,
      properties: { share_via: 'email', recipient: 'eve@mail.example', product_id: 'seat-b7', name: 'Seat B7' },
    },
    ofAda('share', {
      content_type: 'product',
      method: 'email',
      item_id: 'seat-b7',
      items: [{ item_id: 'seat-b7', item_name: 'Seat B7' }],
    }),
  ],
  [
    'A shared cart',
    web,
    {
      type: 'track',
      event: 'Cart Shared',
      ...ada,
      properties: {
        share_via: 'email',
        recipient: 'eve@mail.example',
        cart_id: 'c-77',
        products: [{ sku: 'seat-b7' }],
      },
    },
    ofAda('share', { content_type: 'cart', method: 'email', item_id: 'c-77', items: [{ item_id: 'seat-b7' }] }),
  ],
  [
    'The details of a campaign',
    web,
    {
      type: 'track',
      event: 'Campaign Details',
      ...ada,
      properties: { term: 'hall b' },
      context: { campaign: { name: 'Summer', source: 'news', medium: 'email', content: 'top' } },
    },
    ofAda('campaign_details', { campaign: 'Summer', source: 'news', medium: 'email', term: 'hall b', content: 'top' }),
  ],
  [
    'A group is joined',
    web,
    { type: 'group', groupId: 'c-12', ...ada, traits: { city: 'Graz' } },
    ofAda('join_group', { group_id: 'c-12' }),
  ],
  [
    'A session and the time of engagement',
    web,
    {
      type: 'page',
      ...ada,
      properties: { url: 'https://cinema.example/b', session_id: '1772615700', engagement_time_msec: '1200' },
    },
    ofAda('page_view', {
      page_location: 'https://cinema.example/b',
      url: 'https://cinema.example/b',
      session_id: '1772615700',
      engagement_time_msec: 1200,
    }),
  ],
]

const USERS: Example[] = [
  [
    'The client id of the website',
    web,
    {
      type: 'track',
      event: 'Seat Reserved',
      ...ada,
      context: { externalId: [{ type: 'ga4ClientId', id: '1366203487.1772615700' }] },
    },
    sent({ client_id: '1366203487.1772615700', user_id: 'u-4711', events: [{ name: 'seat_reserved', params: {} }] }),
  ],
  [
    'A server event has only a user',
    web,
    { type: 'track', event: 'Seat Reserved', userId: 'u-4711' },
    sent({ client_id: '148995581.1174292352', user_id: 'u-4711', events: [{ name: 'seat_reserved', params: {} }] }),
  ],
  [
    'Listed traits are user properties',
    { ...web, userProperties: 'listed', userPropertyNames: ['plan', 'seats', 'phone'] },
    {
      type: 'track',
      event: 'Seat Reserved',
      ...ada,
      context: { traits: { plan: 'gold', seats: 2, email: 'a@b.example' } },
    },
    ofAda('seat_reserved', {}, { user_properties: { plan: { value: 'gold' }, seats: { value: 2 } } }),
  ],
  [
    'All traits that fit are user properties',
    { ...web, userProperties: 'all' },
    {
      type: 'track',
      event: 'Seat Reserved',
      ...ada,
      context: {
        traits: {
          favouriteHall: 'B',
          isMember: true,
          userId: 'reserved',
          ga_tier: 'reserved',
          aNameOfMoreThanTwentyFourCharacters: 'x',
          note: 'a text of more than thirty-six characters',
          seats: [7, 8],
        },
      },
    },
    ofAda('seat_reserved', {}, { user_properties: { favourite_hall: { value: 'B' }, is_member: { value: 'true' } } }),
  ],
  [
    'Consent of the event and of the configuration',
    { ...web, adUserData: 'GRANTED', adPersonalization: 'GRANTED' },
    { type: 'track', event: 'Seat Reserved', ...ada, context: { consent: { ad_personalization: 'denied' } } },
    ofAda('seat_reserved', {}, { consent: { ad_user_data: 'GRANTED', ad_personalization: 'DENIED' } }),
  ],
  [
    'Place and browser of a web event',
    { ...web, deviceAndPlace: true },
    {
      type: 'track',
      event: 'Seat Reserved',
      ...ada,
      channel: 'web',
      context: {
        location: { city: 'Graz', region: 'AT-6', country: 'AT' },
        userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      },
    },
    ofAda(
      'seat_reserved',
      {},
      {
        user_location: { city: 'Graz', region_id: 'AT-6', country_id: 'AT' },
        user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      },
    ),
  ],
  [
    'Address and device of an app event',
    { ...web, deviceAndPlace: true },
    {
      type: 'track',
      event: 'Seat Reserved',
      ...ada,
      channel: 'mobile',
      request_ip: '203.0.113.9',
      context: {
        locale: 'de-AT',
        screen: { width: 1080, height: 2400 },
        os: { name: 'Android', version: '15' },
        device: { model: 'Pixel 8', manufacturer: 'Google' },
      },
    },
    ofAda(
      'seat_reserved',
      {},
      {
        ip_override: '203.0.113.9',
        device: {
          language: 'de-AT',
          screen_resolution: '1080x2400',
          operating_system: 'Android',
          operating_system_version: '15',
          model: 'Pixel 8',
          brand: 'Google',
        },
      },
    ),
  ],
  [
    'An app stream needs the id of the app instance',
    { firebaseAppId: '1:1234:android:5678', apiSecret: 'x7Hq2exampleSecretOnly', region: 'eu' },
    { type: 'screen', name: 'Hall', anonymousId: 'a-9' },
    { error: 'context.externalId has no id of type ga4AppInstanceId' },
  ],
]

const REFUSED: Example[] = [
  [
    'A reserved name is refused',
    web,
    { type: 'track', event: 'First Open', ...ada },
    { error: 'GA4 reserves the event name first_open: rename "First Open" before it is sent to GA4' },
  ],
  [
    'An event of more than 72 hours ago is refused',
    web,
    { type: 'track', event: 'Seat Reserved', ...ada, timestamp: '2026-03-04T09:15:27.120Z' },
    { error: 'GA4 refuses events older than 72 hours: this one is from 2026-03-04T09:15:27.120Z' },
    { now: '2026-03-07T09:15:28.000Z' },
  ],
  [
    'A test asks the validation server',
    { ...web, debug: true },
    { type: 'track', event: 'Seat Reserved', ...ada },
    sent(
      {
        validation_behavior: 'ENFORCE_RECOMMENDATIONS',
        client_id: 'a-9',
        user_id: 'u-4711',
        events: [{ name: 'seat_reserved', params: {} }],
      },
      '/debug/mp/collect',
    ),
    { testOnly: true },
  ],
]

const BATCHES: Example[] = [
  [
    'Events of one client are one request',
    web,
    { type: 'track', event: 'Seat Reserved', ...ada, timestamp: '2026-03-04T09:15:31.000Z' },
    ofAda('seat_reserved', {}, { timestamp_micros: 1_772_615_731_000_000 }),
    {
      batch: {
        events: [{ type: 'track', event: 'Seat Released', ...ada, timestamp: '2026-03-04T09:15:32.000Z' }],
        expected: request({
          client_id: 'a-9',
          user_id: 'u-4711',
          events: [
            { name: 'seat_reserved', params: {}, timestamp_micros: 1_772_615_731_000_000 },
            { name: 'seat_released', params: {}, timestamp_micros: 1_772_615_732_000_000 },
          ],
        }),
      },
    },
  ],
]

export const examples: DestinationCase[] = [...ORDERS, ...OTHER_EVENTS, ...USERS, ...REFUSED, ...BATCHES].map(
  ([name, config, event, expected, more]) => ({
    name,
    documented: true,
    config,
    event,
    expected,
    ...more,
  }),
)
