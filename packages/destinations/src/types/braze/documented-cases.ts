import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'

const config = { restEndpoint: 'https://rest.iad-01.braze.com', apiKey: 'x7Hq2-example-rest-key' }
const timestamp = '2026-03-04T09:15:27.120Z'

function sent(route: string, json: JsonObject): RequestObject {
  return requestObject({
    method: 'POST',
    endpoint: `https://rest.iad-01.braze.com${route}`,
    headers: { authorization: 'Bearer x7Hq2-example-rest-key', 'content-type': 'application/json' },
    body: { JSON: json },
  })
}

/** The examples of docs/destinations/braze.md, one for each of what is mapped. */
export const documentedCases: DestinationCase[] = [
  {
    name: 'Traits become fields of the profile and custom attributes',
    documented: true,
    config,
    event: {
      type: 'identify',
      userId: 'u-4711',
      traits: {
        email: 'ada@mail.example',
        firstName: 'Ada',
        lastName: 'Lovelace',
        birthday: '1990-12-10',
        gender: 'female',
        address: { city: 'Graz', country: 'at', postalCode: '8010' },
        plan: 'gold',
        favourites: ['drama', 'comedy'],
        phone: null,
      },
      context: { locale: 'de-AT', timezone: 'Europe/Vienna' },
    },
    expected: {
      requests: [
        sent('/users/track', {
          attributes: [
            {
              external_id: 'u-4711',
              address: { city: 'Graz', country: 'at', postalCode: '8010' },
              plan: 'gold',
              favourites: ['drama', 'comedy'],
              email: 'ada@mail.example',
              phone: null,
              first_name: 'Ada',
              last_name: 'Lovelace',
              gender: 'F',
              dob: '1990-12-10',
              home_city: 'Graz',
              country: 'AT',
              language: 'de',
              time_zone: 'Europe/Vienna',
            },
          ],
        }),
      ],
    },
  },
  {
    name: 'An event of an app',
    documented: true,
    config: { ...config, appId: 'app-1' },
    event: { type: 'track', event: 'Seat Reserved', userId: 'u-4711', timestamp, properties: { hall: 'B', row: 7 } },
    expected: {
      requests: [
        sent('/users/track', {
          events: [
            {
              external_id: 'u-4711',
              app_id: 'app-1',
              time: timestamp,
              name: 'Seat Reserved',
              properties: { hall: 'B', row: 7 },
            },
          ],
        }),
      ],
    },
  },
  {
    name: 'An anonymous user is an alias',
    documented: true,
    config,
    event: { type: 'page', name: 'Hall B', anonymousId: 'a-9', timestamp, properties: { path: '/hall' } },
    expected: {
      requests: [
        sent('/users/track', {
          events: [
            {
              user_alias: { alias_name: 'a-9', alias_label: 'anonymous_id' },
              _update_existing_only: false,
              time: timestamp,
              name: 'Viewed Hall B Page',
              properties: { name: 'Hall B', path: '/hall' },
            },
          ],
        }),
      ],
    },
  },
  {
    name: 'An order is a purchase for each product',
    documented: true,
    config,
    event: {
      type: 'track',
      event: 'Order Completed',
      userId: 'u-4711',
      timestamp,
      properties: {
        order_id: 'o-1',
        currency: 'eur',
        total: 83.8,
        products: [
          { product_id: 'seat-b7', name: 'Seat', price: 39.9, quantity: 2 },
          { sku: 'popcorn', price: '4.00', size: 'large' },
        ],
      },
    },
    expected: {
      requests: [
        sent('/users/track', {
          purchases: [
            {
              external_id: 'u-4711',
              time: timestamp,
              product_id: 'seat-b7',
              currency: 'EUR',
              price: 39.9,
              quantity: 2,
              properties: { order_id: 'o-1', name: 'Seat' },
            },
            {
              external_id: 'u-4711',
              time: timestamp,
              product_id: 'popcorn',
              currency: 'EUR',
              price: 4,
              quantity: 1,
              properties: { order_id: 'o-1', sku: 'popcorn', size: 'large' },
            },
          ],
        }),
      ],
    },
  },
  {
    name: 'An order as a recommended event',
    documented: true,
    config: { ...config, ecommerce: 'recommended' },
    event: {
      type: 'track',
      event: 'Order Completed',
      userId: 'u-4711',
      timestamp,
      properties: {
        order_id: 'o-1',
        cart_id: 'c-1',
        currency: 'EUR',
        total: 79.8,
        discount: 5,
        products: [{ product_id: 'seat-b7', name: 'Seat', variant: 'red', price: 39.9, quantity: 2, row: 7 }],
      },
      context: { page: { url: 'https://cinema.example/pay?step=3' } },
    },
    expected: {
      requests: [
        sent('/users/track', {
          events: [
            {
              external_id: 'u-4711',
              time: timestamp,
              name: 'ecommerce.order_placed',
              properties: {
                order_id: 'o-1',
                cart_id: 'c-1',
                total_value: 79.8,
                currency: 'EUR',
                total_discounts: 5,
                products: [
                  {
                    product_id: 'seat-b7',
                    product_name: 'Seat',
                    variant_id: 'red',
                    quantity: 2,
                    price: 39.9,
                    metadata: { row: 7 },
                  },
                ],
                source: 'https://cinema.example',
              },
            },
          ],
        }),
      ],
    },
  },
  {
    name: 'An alias call identifies an anonymous user',
    documented: true,
    config,
    event: { type: 'alias', userId: 'u-4711', previousId: 'a-9' },
    expected: {
      requests: [
        sent('/users/identify', {
          aliases_to_identify: [
            { external_id: 'u-4711', user_alias: { alias_name: 'a-9', alias_label: 'anonymous_id' } },
          ],
        }),
      ],
    },
  },
  {
    name: 'An identify call merges the anonymous user',
    documented: true,
    config: { ...config, mergeAnonymous: true, updateExistingOnly: true },
    event: { type: 'identify', userId: 'u-4711', anonymousId: 'a-9', traits: { plan: 'gold' } },
    expected: {
      requests: [
        sent('/users/identify', {
          aliases_to_identify: [
            { external_id: 'u-4711', user_alias: { alias_name: 'a-9', alias_label: 'anonymous_id' } },
          ],
        }),
        sent('/users/track', { attributes: [{ external_id: 'u-4711', _update_existing_only: true, plan: 'gold' }] }),
      ],
    },
  },
  {
    name: 'A purchase needs a currency',
    documented: true,
    config,
    event: {
      type: 'track',
      event: 'Order Completed',
      userId: 'u-4711',
      timestamp,
      properties: { products: [{ product_id: 'seat-b7', price: 39.9 }] },
    },
    expected: { error: 'properties.currency is missing' },
  },
]
