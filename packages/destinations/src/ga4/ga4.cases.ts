import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../destination-case.ts'
import { requestObject } from '../request-object.ts'

const config = { measurementId: 'G-12345678', apiSecret: 'x7Hq2exampleSecretOnly' }
const stored = { messageId: 'm-88', receivedAt: '2026-03-04T09:15:31.900Z', request_ip: '203.0.113.9' }
const track = { type: 'track', event: 'Seat Reserved', anonymousId: 'a-9', ...stored }

function collected(json: JsonObject, { host = 'www.google-analytics.com', params = {} } = {}) {
  return {
    requests: [
      requestObject({
        method: 'POST',
        endpoint: `https://${host}/mp/collect`,
        headers: { 'content-type': 'application/json' },
        params: { measurement_id: 'G-12345678', api_secret: 'x7Hq2exampleSecretOnly', ...params },
        body: { JSON: json },
      }),
    ],
  }
}

/** The track above with the name and params that Google is to see. */
function named(name: string, params: JsonObject = {}) {
  return collected({ client_id: 'a-9', events: [{ name, params }] })
}

const shownExamples: DestinationCase[] = [
  {
    name: 'An order is a purchase',
    documented: true,
    config: { measurementId: 'G-12345678', apiSecret: 'x7Hq2exampleSecretOnly' },
    event: {
      type: 'track',
      event: 'Order Completed',
      anonymousId: 'a-9',
      userId: 'u-4711',
      timestamp: '2026-03-04T09:15:27.120Z',
      properties: {
        order_id: 'A-1001',
        total: 39.9,
        currency: 'EUR',
        products: [{ product_id: 'seat-b7', name: 'Seat B7', price: 39.9, quantity: 1 }],
      },
      context: { sessionId: 1772615700 },
    },
    expected: {
      requests: [
        {
          version: '1',
          type: 'REST',
          method: 'POST',
          endpoint: 'https://www.google-analytics.com/mp/collect',
          headers: { 'content-type': 'application/json' },
          params: { measurement_id: 'G-12345678', api_secret: 'x7Hq2exampleSecretOnly' },
          body: {
            JSON: {
              client_id: 'a-9',
              user_id: 'u-4711',
              timestamp_micros: 1772615727120000,
              events: [
                {
                  name: 'purchase',
                  params: {
                    transaction_id: 'A-1001',
                    value: 39.9,
                    currency: 'EUR',
                    items: [{ item_id: 'seat-b7', item_name: 'Seat B7', price: 39.9, quantity: 1 }],
                    session_id: '1772615700',
                    engagement_time_msec: 1,
                  },
                },
              ],
            },
            JSON_ARRAY: {},
            XML: {},
            FORM: {},
          },
          files: {},
        },
      ],
    },
  },
  {
    name: 'An app stream needs the id of the app instance',
    documented: true,
    config: { firebaseAppId: '1:1234:android:5678', apiSecret: 'x7Hq2exampleSecretOnly', region: 'eu' },
    event: { type: 'screen', name: 'Hall', anonymousId: 'a-9' },
    expected: { error: 'context.externalId has no id of type ga4AppInstanceId' },
  },
]

function names(): DestinationCase[] {
  const table: [event: string, name: string][] = [
    ['Order Completed', 'purchase'],
    ['Order Refunded', 'refund'],
    ['Product Added', 'add_to_cart'],
    ['Product Removed', 'remove_from_cart'],
    ['Product Viewed', 'view_item'],
    ['Product Clicked', 'select_item'],
    ['Product List Viewed', 'view_item_list'],
    ['Cart Viewed', 'view_cart'],
    ['Checkout Started', 'begin_checkout'],
    ['Payment Info Entered', 'add_payment_info'],
    ['Products Searched', 'search'],
    ['Product Added to Wishlist', 'add_to_wishlist'],
    ['Promotion Viewed', 'view_promotion'],
    ['Promotion Clicked', 'select_promotion'],
    ['Signed Up', 'sign_up'],
    ['Signed In', 'login'],
    ['Seat Reserved', 'seat_reserved'],
    ['seatReserved', 'seat_reserved'],
    ['VIPSeat (2nd row)', 'vip_seat_2nd_row'],
    ['  -- 3D glasses!', 'd_glasses'],
    ['座席 予約', '座席_予約'],
    ['_proto_', 'proto'],
    [`A${'b'.repeat(60)}`, `a${'b'.repeat(39)}`],
    [`${'a'.repeat(39)} b`, 'a'.repeat(39)],
  ]
  return table.map(([event, name]) => ({
    name: `${event} is called ${name}`,
    config,
    event: { ...track, event },
    expected: named(name),
  }))
}

function others(): DestinationCase[] {
  const nameless = { error: 'event has no letter in its name' }
  const page = { url: 'https://cinema.example/b', referrer: 'https://cinema.example/', title: 'Hall B' }
  const view = {
    page_location: 'https://cinema.example/b',
    page_referrer: 'https://cinema.example/',
    page_title: 'Hall B',
  }
  const app = { firebaseAppId: '1:1234:android:5678', apiSecret: 'x7Hq2exampleSecretOnly' }
  const table: [what: string, config: JsonObject, event: JsonObject, expected: DestinationCase['expected']][] = [
    ['a name without a letter', config, { ...track, event: '1 2 3' }, nameless],
    ['no name', config, { ...track, event: '' }, { error: 'event is missing' }],
    [
      'the European region',
      { ...config, region: 'eu' },
      track,
      collected(
        { client_id: 'a-9', events: [{ name: 'seat_reserved', params: {} }] },
        { host: 'region1.google-analytics.com' },
      ),
    ],
    ['another region', { ...config, region: 'mars' }, track, { error: 'Unsupported region mars' }],
    ['nobody known', config, { ...track, anonymousId: '' }, { error: 'anonymousId is missing' }],
    [
      'the time at which it was made',
      config,
      { ...track, timestamp: 'soon', originalTimestamp: '2026-03-04T09:15:27Z' },
      collected({
        client_id: 'a-9',
        timestamp_micros: 1_772_615_727_000_000,
        events: [{ name: 'seat_reserved', params: {} }],
      }),
    ],
    [
      'an app stream',
      app,
      {
        ...track,
        context: {
          externalId: [
            { type: 'crmId', id: 1 },
            { type: 'ga4AppInstanceId', id: 'i-5' },
          ],
        },
      },
      {
        requests: [
          requestObject({
            method: 'POST',
            endpoint: 'https://www.google-analytics.com/mp/collect',
            headers: { 'content-type': 'application/json' },
            params: { firebase_app_id: '1:1234:android:5678', api_secret: 'x7Hq2exampleSecretOnly' },
            body: { JSON: { app_instance_id: 'i-5', events: [{ name: 'seat_reserved', params: {} }] } },
          }),
        ],
      },
    ],
    ['no stream', { apiSecret: 'x' }, track, { error: 'measurementId or firebaseAppId is missing' }],
    ['no secret', { measurementId: 'G-1' }, track, { error: 'apiSecret is missing' }],
    ['a page', config, { ...track, type: 'page', name: 'Hall', context: { page } }, named('page_view', view)],
    [
      'a page by its properties',
      config,
      { ...track, type: 'page', name: 'Hall', properties: { title: 'Hall C' }, context: { page } },
      named('page_view', { ...view, page_title: 'Hall C', title: 'Hall C' }),
    ],
    ['a screen', config, { ...track, type: 'screen', name: 'Hall' }, named('screen_view', { screen_name: 'Hall' })],
    [
      'a screen of a native library',
      config,
      { ...track, type: 'screen', event: 'Hall', properties: { name: 'Hall' } },
      named('screen_view', { screen_name: 'Hall', name: 'Hall' }),
    ],
    [
      'properties of any name and kind',
      config,
      { ...track, properties: { 'Hall No.': 'B', seats: [7, 8], none: null, price: 3, '2': 1 } },
      named('seat_reserved', { hall_no: 'B', seats: '[7,8]', price: 3 }),
    ],
    [
      'a product at the top',
      config,
      { ...track, event: 'Product Added', properties: { sku: 's', name: 'Seat', price: 9, cart_id: 'c' } },
      named('add_to_cart', { cart_id: 'c', items: [{ item_id: 's', item_name: 'Seat', price: 9 }] }),
    ],
    [
      'value and total',
      config,
      { ...track, event: 'Order Completed', properties: { value: 1, total: 2, products: [] } },
      named('purchase', { value: 1, total: 2, products: '[]' }),
    ],
    [
      'an engagement of its own',
      config,
      { ...track, properties: { engagement_time_msec: 900 }, context: { sessionId: 's-1' } },
      named('seat_reserved', { engagement_time_msec: 900, session_id: 's-1' }),
    ],
  ]
  return table.map(([name, given, event, expected]) => ({ name, config: given, event, expected }))
}

export const cases: DestinationCase[] = [...shownExamples, ...names(), ...others()]
