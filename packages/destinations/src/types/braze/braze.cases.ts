import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { requestObject } from '../../requests/request-object.ts'
import { documentedCases } from './documented-cases.ts'

const config = { restEndpoint: 'https://rest.fra-01.braze.eu/', apiKey: 'x7Hq2-example-rest-key' }
const timestamp = '2026-03-04T09:15:27.120Z'
const track = { type: 'track', event: 'Seat Reserved', userId: 'u-4711', timestamp }
const order = { ...track, event: 'order completed' }
const product = { product_id: 'p-1', name: 'Seat', price: 1 }

type Expected = DestinationCase['expected']

function sent(json: JsonObject, route = '/users/track') {
  return requestObject({
    method: 'POST',
    endpoint: `https://rest.fra-01.braze.eu${route}`,
    headers: { authorization: 'Bearer x7Hq2-example-rest-key', 'content-type': 'application/json' },
    body: { JSON: json },
  })
}

const tracked = (json: JsonObject): Expected => ({ requests: [sent(json)] })
const reserved = (change: JsonObject = {}) => ({
  external_id: 'u-4711',
  time: timestamp,
  name: 'Seat Reserved',
  ...change,
})
const occurred = (change: JsonObject = {}) => tracked({ events: [reserved(change)] })
const attributes = (members: JsonObject) => tracked({ attributes: [{ external_id: 'u-4711', ...members }] })

function others(): DestinationCase[] {
  const identify = (traits: JsonObject, change: JsonObject = {}) => ({
    type: 'identify',
    userId: 'u-4711',
    traits,
    ...change,
  })
  const table: [what: string, config: JsonObject, event: JsonObject, expected: Expected][] = [
    ['an event without properties', config, track, occurred()],
    [
      'a screen',
      config,
      { ...track, type: 'screen', event: 'Hall' },
      occurred({ name: 'Viewed Hall Screen', properties: { name: 'Hall' } }),
    ],
    ['a page without a name', config, { ...track, type: 'page', event: null }, occurred({ name: 'Viewed Page' })],
    [
      'a user known by the id of Braze',
      config,
      { ...track, userId: '', context: { externalId: [{ type: 'brazeId', id: 'b-1' }] } },
      tracked({ events: [{ braze_id: 'b-1', time: timestamp, name: 'Seat Reserved' }] }),
    ],
    ['nobody', config, { ...track, userId: '' }, { error: 'userId or anonymousId is missing' }],
    ['an event without a time', config, { ...track, timestamp: 'soon' }, { error: 'timestamp is missing' }],
    ['an event without a name', config, { ...track, event: '' }, { error: 'event is missing' }],
    ['an alias without its user', config, { type: 'alias', previousId: 'a-9' }, { error: 'userId is missing' }],
    ['an alias without the former id', config, { type: 'alias', userId: 'u-1' }, { error: 'previousId is missing' }],
    ['no key', { ...config, apiKey: '' }, track, { error: 'apiKey is missing' }],
    ['no endpoint', { apiKey: 'x' }, track, { error: 'restEndpoint is missing' }],
    [
      'only existing profiles, also of an anonymous user',
      { ...config, updateExistingOnly: true },
      { ...track, userId: null, anonymousId: 'a-9' },
      tracked({
        events: [
          {
            user_alias: { alias_name: 'a-9', alias_label: 'anonymous_id' },
            _update_existing_only: true,
            time: timestamp,
            name: 'Seat Reserved',
          },
        ],
      }),
    ],
    [
      'a full name',
      config,
      identify({ name: 'Ada King Lovelace' }),
      attributes({ first_name: 'Ada', last_name: 'King Lovelace' }),
    ],
    [
      'values that Braze has no form for',
      config,
      identify({ country: 'Austria', gender: 'x', birthday: 'soon' }),
      attributes({}),
    ],
    [
      'a trait may not say whom the update is about',
      config,
      identify({ external_id: 'u-2', braze_id: 'b', a: 1 }),
      attributes({ a: 1 }),
    ],
    [
      'a place of the device',
      config,
      identify({}, { context: { location: { latitude: 47.07, longitude: 15.44 } } }),
      attributes({ current_location: { longitude: 15.44, latitude: 47.07 } }),
    ],
    [
      'a subscription by the names of Braze',
      config,
      identify({ email_subscribe: 'opted_in' }),
      attributes({ email_subscribe: 'opted_in' }),
    ],
    ['an order without products', config, order, occurred({ name: 'order completed' })],
    [
      'orders as custom events',
      { ...config, ecommerce: 'none' },
      { ...order, properties: { currency: 'EUR', products: [product] } },
      occurred({ name: 'order completed', properties: { currency: 'EUR', products: [product] } }),
    ],
    [
      'a product without a price',
      config,
      { ...order, properties: { currency: 'EUR', products: [{ product_id: 'p-1' }] } },
      { error: 'properties.products[0].price is missing' },
    ],
    [
      'a product without an id',
      config,
      { ...order, properties: { currency: 'EUR', products: [{ price: 1 }] } },
      { error: 'properties.products[0] has no product_id, sku or name' },
    ],
    [
      'more than a hundred of a product',
      config,
      { ...order, properties: { currency: 'EUR', products: [{ product_id: 'p-1', price: 1, quantity: 150 }] } },
      tracked({
        purchases: [100, 50].map((quantity) => ({
          external_id: 'u-4711',
          time: timestamp,
          product_id: 'p-1',
          currency: 'EUR',
          price: 1,
          quantity,
          properties: {},
        })),
      }),
    ],
    [
      'a product of half a quantity, and one of none',
      config,
      {
        ...order,
        properties: {
          currency: 'EUR',
          products: [
            { product_id: 'cheese', price: 4, quantity: 2.5 },
            { product_id: 'popcorn', price: 4, quantity: 0 },
          ],
        },
      },
      tracked({
        purchases: [
          {
            external_id: 'u-4711',
            time: timestamp,
            product_id: 'cheese',
            currency: 'EUR',
            price: 10,
            quantity: 1,
            properties: {},
          },
        ],
      }),
    ],
    [
      'more purchases than a request takes',
      config,
      { ...order, properties: { currency: 'EUR', products: Array(76).fill(product) } },
      { error: 'properties.products gives 76 purchases; Braze takes 75 at once' },
    ],
    [
      'more of a product than a request takes',
      config,
      { ...order, properties: { currency: 'EUR', products: [{ ...product, quantity: 10_000 }] } },
      { error: 'a product has the quantity 10000; Braze takes 7500' },
    ],
  ]
  return table.map(([name, given, event, expected]) => ({ name, config: given, event, expected }))
}

function recommended(): DestinationCase[] {
  const given = { ...config, ecommerce: 'recommended' }
  const listed = { product_id: 'p-1', product_name: 'Seat', variant_id: 'p-1', quantity: 1, price: 1 }
  const named = (event: string, properties: JsonObject) => ({ ...track, event, properties })
  const cart = { cart_id: 7, currency: 'EUR', value: '1', products: [product] }
  const amounts = { total_value: 1, currency: 'EUR', products: [listed], source: 'server' }
  const table: [what: string, event: JsonObject, expected: Expected][] = [
    [
      'a product view',
      named('Product Viewed', { ...product, currency: 'EUR', sku: 's-1', url: 'https://c.example/1' }),
      occurred({
        name: 'ecommerce.product_viewed',
        properties: {
          product_id: 'p-1',
          product_name: 'Seat',
          variant_id: 's-1',
          product_url: 'https://c.example/1',
          price: 1,
          metadata: { sku: 's-1' },
          currency: 'EUR',
          source: 'server',
        },
      }),
    ],
    [
      'a cart',
      { ...named('Cart Viewed', cart), channel: 'web' },
      occurred({ name: 'ecommerce.cart_updated', properties: { cart_id: '7', ...amounts, source: 'web' } }),
    ],
    [
      'a product view of half a quantity',
      named('Product Viewed', { ...product, currency: 'EUR', quantity: 0.5 }),
      occurred({
        name: 'ecommerce.product_viewed',
        properties: {
          product_id: 'p-1',
          product_name: 'Seat',
          variant_id: 'p-1',
          price: 1,
          currency: 'EUR',
          source: 'server',
        },
      }),
    ],
    [
      'a cart with half a quantity, and none of a product',
      named('Cart Viewed', {
        ...cart,
        products: [
          { ...product, price: 2, quantity: 0.5 },
          { ...product, quantity: 0 },
        ],
      }),
      occurred({ name: 'ecommerce.cart_updated', properties: { cart_id: '7', ...amounts } }),
    ],
    [
      'a checkout of an app',
      { ...named('Checkout Started', { ...cart, checkout_id: 'k-1' }), context: { app: { name: 'Cinema' } } },
      occurred({
        name: 'ecommerce.checkout_started',
        properties: { checkout_id: 'k-1', cart_id: '7', ...amounts, source: 'Cinema' },
      }),
    ],
    [
      'a cancelled order',
      named('Order Cancelled', { ...cart, order_id: 'o-1', reason: 'late' }),
      occurred({
        name: 'ecommerce.order_cancelled',
        properties: { order_id: 'o-1', cancel_reason: 'late', ...amounts },
      }),
    ],
    [
      'a refund',
      named('Order Refunded', { ...cart, order_id: 'o-1' }),
      occurred({ name: 'ecommerce.order_refunded', properties: { order_id: 'o-1', ...amounts } }),
    ],
    ['another event', track, occurred()],
    [
      'no products',
      named('Order Completed', { order_id: 'o-1' }),
      { error: 'properties.products is missing: Braze requires it in this recommended event' },
    ],
    [
      'no total',
      named('Order Completed', { products: [product] }),
      { error: 'properties.total is missing: Braze requires it in this recommended event' },
    ],
    [
      'no order',
      named('Order Completed', { ...cart }),
      { error: 'properties.order_id is missing: Braze requires it in this recommended event' },
    ],
    [
      'a product without a name',
      named('Order Completed', { products: [{ product_id: 1 }] }),
      { error: 'properties.products[0].name is missing: Braze requires it in this recommended event' },
    ],
  ]
  return table.map(([name, event, expected]) => ({ name: `recommended: ${name}`, config: given, event, expected }))
}

const batched: DestinationCase[] = [
  {
    name: 'users and events in one request',
    config,
    event: { type: 'identify', userId: 'u-1', traits: { plan: 'gold' } },
    batch: {
      events: [track, { ...track, userId: 'u-3' }],
      expected: sent({
        attributes: [{ external_id: 'u-1', plan: 'gold' }],
        events: [reserved(), reserved({ external_id: 'u-3' })],
      }),
    },
    expected: tracked({ attributes: [{ external_id: 'u-1', plan: 'gold' }] }),
  },
]

export const cases: DestinationCase[] = [...documentedCases, ...others(), ...recommended(), ...batched]
