import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { requestObject } from '../../requests/request-object.ts'
import { examples } from './examples.cases.ts'

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

function sentByApp(name: string, params: JsonObject) {
  return {
    requests: [
      requestObject({
        method: 'POST',
        endpoint: 'https://www.google-analytics.com/mp/collect',
        headers: { 'content-type': 'application/json' },
        params: { firebase_app_id: '1:1234:android:5678', api_secret: 'x7Hq2exampleSecretOnly' },
        body: { JSON: { app_instance_id: 'i-5', events: [{ name, params }] } },
      }),
    ],
  }
}

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
    ['Shipping Info Entered', 'add_shipping_info'],
    ['Checkout Step Completed', 'checkout_progress'],
    ['Coupon Entered', 'coupon_entered'],
    ['Coupon Applied', 'coupon_applied'],
    ['Coupon Denied', 'coupon_denied'],
    ['Coupon Removed', 'coupon_removed'],
    ['Wishlist Product Added to Cart', 'add_to_cart'],
    ['Campaign Details', 'campaign_details'],
    ['order completed', 'purchase'],
    ['ORDER COMPLETED', 'purchase'],
    [' order  Completed ', 'purchase'],
    ['order_completed', 'purchase'],
    ['orderCompleted', 'purchase'],
    ['OrderCompleted', 'purchase'],
    ['ordercompleted', 'purchase'],
    ['order-completed', 'purchase'],
    ['Product Added To Wishlist', 'add_to_wishlist'],
    ['Seat Reserved', 'seat_reserved'],
    ['seatReserved', 'seat_reserved'],
    ['VIPSeat (2nd row)', 'vip_seat_2nd_row'],
    ['Gru\u0308ner Platz', 'gr\u00fcner_platz'],
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

type Row = [what: string, config: JsonObject, event: JsonObject, expected: DestinationCase['expected']]

function others(): DestinationCase[] {
  const nameless = { error: 'event has no letter in its name' }
  const page = { url: 'https://cinema.example/b', referrer: 'https://cinema.example/', title: 'Hall B' }
  const view = {
    page_location: 'https://cinema.example/b',
    page_referrer: 'https://cinema.example/',
    page_title: 'Hall B',
  }
  const app = { firebaseAppId: '1:1234:android:5678', apiSecret: 'x7Hq2exampleSecretOnly' }
  const installed = {
    externalId: [
      { type: 'crmId', id: 1 },
      { type: 'ga4AppInstanceId', id: 'i-5' },
    ],
  }
  const table: Row[] = [
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
    [
      'nobody known',
      config,
      { ...track, anonymousId: '' },
      { error: 'GA4 needs a client: the event has no external id ga4ClientId, no anonymousId and no userId' },
    ],
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
    ['an app stream', app, { ...track, context: installed }, sentByApp('seat_reserved', {})],
    ['no stream', { apiSecret: 'x' }, track, { error: 'measurementId or firebaseAppId is missing' }],
    ['no secret', { measurementId: 'G-1' }, track, { error: 'apiSecret is missing' }],
    ['a page', config, { ...track, type: 'page', name: 'Hall', context: { page } }, named('page_view', view)],
    [
      'a page by its properties',
      config,
      { ...track, type: 'page', name: 'Hall', properties: { title: 'Hall C' }, context: { page } },
      named('page_view', { ...view, page_title: 'Hall C', title: 'Hall C' }),
    ],
    [
      'a screen of a web stream',
      config,
      { ...track, type: 'screen', name: 'Hall' },
      { error: 'GA4 takes screen_view from app streams only: use firebaseAppId, or send a page' },
    ],
    [
      'a track called Screen View, on the web',
      config,
      { ...track, event: 'Screen View' },
      { error: 'GA4 reserves the event name screen_view: rename "Screen View" before it is sent to GA4' },
    ],
    [
      'a screen of a native library',
      app,
      { ...track, type: 'screen', event: 'Hall', properties: { name: 'Hall' }, context: installed },
      sentByApp('screen_view', { screen_name: 'Hall', name: 'Hall' }),
    ],
    [
      'a place without a code of its country, and no device',
      { ...config, deviceAndPlace: true },
      { ...track, context: { location: { country: 'Austria', city: 'Graz' } } },
      collected({ client_id: 'a-9', ip_override: '203.0.113.9', events: [{ name: 'seat_reserved', params: {} }] }),
    ],
    [
      'a place with a region that has no code, and a user agent that is too long',
      { ...config, deviceAndPlace: true },
      { ...track, context: { location: { country: 'at', region: 'Styria' }, userAgent: 'x'.repeat(1_001) } },
      collected({
        client_id: 'a-9',
        user_location: { country_id: 'AT' },
        events: [{ name: 'seat_reserved', params: {} }],
      }),
    ],
    [
      'device and place without the wish for them',
      config,
      { ...track, context: { location: { country: 'AT' }, userAgent: 'Mozilla/5.0' } },
      named('seat_reserved'),
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
      { ...track, properties: { engagement_time_msec: '900' }, context: { sessionId: '17' } },
      named('seat_reserved', { engagement_time_msec: 900, session_id: '17' }),
    ],
    [
      'a session among the properties',
      config,
      { ...track, properties: { session_id: 18 }, context: { sessionId: 17 } },
      named('seat_reserved', { engagement_time_msec: 1, session_id: '18' }),
    ],
    [
      'a session that is no number',
      config,
      { ...track, properties: { session_id: 's-1' }, context: { sessionId: 's-2' } },
      named('seat_reserved'),
    ],
    [
      'an external id before the anonymousId',
      config,
      { ...track, context: { externalId: [{ type: 'ga4ClientId', id: '1234.5678' }] } },
      collected({ client_id: '1234.5678', events: [{ name: 'seat_reserved', params: {} }] }),
    ],
    [
      'a reserved name in another spelling',
      config,
      { ...track, event: 'Session Start' },
      { error: 'GA4 reserves the event name session_start: rename "Session Start" before it is sent to GA4' },
    ],
    [
      'a name that only web streams reserve, on the web',
      config,
      { ...track, event: 'in_app_purchase' },
      { error: 'GA4 reserves the event name in_app_purchase: rename "in_app_purchase" before it is sent to GA4' },
    ],
    [
      'a name with a prefix that only app streams reserve, on the web',
      config,
      { ...track, event: 'Google Login' },
      named('google_login'),
    ],
    [
      'a name with a reserved prefix, in an app',
      app,
      { ...track, event: 'Google Login', context: { externalId: [{ type: 'ga4AppInstanceId', id: 'i-5' }] } },
      { error: 'GA4 reserves the event name google_login: rename "Google Login" before it is sent to GA4' },
    ],
    [
      'a property with a reserved prefix',
      config,
      { ...track, properties: { ga_index: 1, firebase_conversion: 1, 'Google ID': 'x', seat: 7 } },
      named('seat_reserved', { seat: 7 }),
    ],
    [
      'unknown user properties',
      { ...config, userProperties: 'some' },
      track,
      { error: 'Unsupported userProperties some' },
    ],
    [
      'at most 25 user properties, of one name only the first',
      { ...config, userProperties: 'all' },
      { ...track, context: { traits: { 'trait a': 'first', trait_a: 'second', ...manyTraits(30) } } },
      collected({
        client_id: 'a-9',
        user_properties: {
          trait_a: { value: 'first' },
          ...Object.fromEntries(Object.entries(manyTraits(24)).map(([name, value]) => [name, { value }])),
        },
        events: [{ name: 'seat_reserved', params: {} }],
      }),
    ],
    [
      'no trait that is listed',
      { ...config, userProperties: 'listed', userPropertyNames: ['plan', 7, 'toString'] },
      { ...track, context: { traits: { email: 'a@b.example' } } },
      named('seat_reserved'),
    ],
    [
      'consent as yes or no, and as anything else',
      config,
      { ...track, context: { consent: { ad_user_data: false, ad_personalization: 'perhaps' } } },
      collected({
        client_id: 'a-9',
        consent: { ad_user_data: 'DENIED' },
        events: [{ name: 'seat_reserved', params: {} }],
      }),
    ],
    [
      'consent of the event that is neither, in place of that of the configuration',
      { ...config, adUserData: 'GRANTED', adPersonalization: 'GRANTED' },
      { ...track, context: { consent: { ad_user_data: 'no', ad_personalization: null } } },
      collected({
        client_id: 'a-9',
        consent: { ad_personalization: 'GRANTED' },
        events: [{ name: 'seat_reserved', params: {} }],
      }),
    ],
    ...['GRANTED', 'DENIED'].map(
      (answer): Row => [
        `consent of the configuration: ${answer}`,
        { ...config, adUserData: answer, adPersonalization: answer },
        track,
        collected({
          client_id: 'a-9',
          consent: { ad_user_data: answer, ad_personalization: answer },
          events: [{ name: 'seat_reserved', params: {} }],
        }),
      ],
    ),
    ['a group without an id', config, { ...track, type: 'group' }, { error: 'groupId is missing' }],
    [
      'a track called Join Group',
      config,
      { ...track, event: 'Join Group', properties: { group_id: 'c-12' } },
      named('join_group', { group_id: 'c-12' }),
    ],
    [
      'numbers as text, and texts that are none',
      config,
      {
        ...track,
        event: 'Order Completed',
        properties: { total: ' 39.90', tax: '1,5', shipping: '', discount: '2', order_id: '1001', value: null },
      },
      named('purchase', { value: 39.9, tax: '1,5', shipping: '', discount: '2', transaction_id: '1001' }),
    ],
    [
      'a number that is too large',
      config,
      { ...track, properties: { value: '9'.repeat(400) } },
      named('seat_reserved', { value: '9'.repeat(400) }),
    ],
    [
      'the total before the revenue',
      config,
      { ...track, event: 'Order Completed', properties: { revenue: 30, total: 39.9 } },
      named('purchase', { value: 39.9, revenue: 30 }),
    ],
    [
      'the revenue without a total',
      config,
      { ...track, event: 'Order Completed', properties: { revenue: '30' } },
      named('purchase', { value: 30 }),
    ],
    [
      'the id of a product before its SKU',
      config,
      { ...track, event: 'Product Shared', properties: { sku: 's', product_id: 'p', share_via: 'mail' } },
      named('share', { content_type: 'product', method: 'mail', item_id: 'p', items: [{ item_id: 'p' }] }),
    ],
    [
      'a promotion',
      config,
      {
        ...track,
        event: 'Promotion Clicked',
        properties: { promotion_id: 'p', creative: 'c', name: 'n', position: 's' },
      },
      named('select_promotion', { promotion_id: 'p', creative_name: 'c', promotion_name: 'n', creative_slot: 's' }),
    ],
    [
      'a list of products',
      config,
      { ...track, event: 'Product List Viewed', properties: { list_id: 'l', products: [{ sku: 's', position: '2' }] } },
      named('view_item_list', { item_list_id: 'l', items: [{ item_id: 's', index: 2 }] }),
    ],
  ]
  return [
    ...table.map(([name, given, event, expected]) => ({ name, config: given, event, expected })),
    {
      name: 'an event of exactly 72 hours ago',
      config,
      event: { ...track, timestamp: '2026-03-04T09:15:27.000Z' },
      now: '2026-03-07T09:15:27.000Z',
      expected: collected({
        client_id: 'a-9',
        timestamp_micros: 1_772_615_727_000_000,
        events: [{ name: 'seat_reserved', params: {} }],
      }),
    },
  ]
}

function manyTraits(count: number): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`t${n}`, n]))
}

export const cases: DestinationCase[] = [...examples, ...names(), ...others()]
