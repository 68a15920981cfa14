import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'

const config = { apiKey: 'pk_x7Hq2-example-key-only' }
const timestamp = '2026-03-04T09:15:27.120Z'

function sent(route: string, json: JsonObject): RequestObject {
  return requestObject({
    method: 'POST',
    endpoint: `https://a.klaviyo.com${route}`,
    headers: {
      authorization: 'Klaviyo-API-Key pk_x7Hq2-example-key-only',
      accept: 'application/vnd.api+json',
      revision: '2026-07-15',
      'content-type': 'application/vnd.api+json',
    },
    body: { JSON: json },
  })
}

const metric = (name: string) => ({ data: { type: 'metric', attributes: { name } } })
const ada = { data: { type: 'profile', attributes: { email: 'ada@mail.example', external_id: 'u-4711' } } }

/** The examples of docs/destinations/klaviyo.md, one for each of what is mapped. */
export const documentedCases: DestinationCase[] = [
  {
    name: 'Traits become a profile',
    documented: true,
    config,
    event: {
      type: 'identify',
      userId: 'u-4711',
      traits: {
        email: 'ada@mail.example',
        phone: '+43 660 123 45 67',
        firstName: 'Ada',
        lastName: 'Lovelace',
        company: { name: 'Cinema' },
        title: 'Director',
        address: { street: 'Hauptplatz 1', city: 'Graz', postalCode: '8010', country: 'Austria' },
        plan: 'gold',
      },
      context: { locale: 'de-AT', timezone: 'Europe/Vienna', ip: '203.0.113.9' },
    },
    expected: {
      requests: [
        sent('/api/profile-import', {
          data: {
            type: 'profile',
            attributes: {
              email: 'ada@mail.example',
              phone_number: '+436601234567',
              external_id: 'u-4711',
              first_name: 'Ada',
              last_name: 'Lovelace',
              organization: 'Cinema',
              title: 'Director',
              locale: 'de-AT',
              location: {
                address1: 'Hauptplatz 1',
                city: 'Graz',
                zip: '8010',
                country: 'Austria',
                timezone: 'Europe/Vienna',
                ip: '203.0.113.9',
              },
              properties: { company: { name: 'Cinema' }, plan: 'gold' },
            },
          },
        }),
      ],
    },
  },
  {
    name: 'An event with its value',
    documented: true,
    config,
    event: {
      type: 'track',
      event: 'Order Completed',
      userId: 'u-4711',
      messageId: 'm-88',
      timestamp,
      properties: { order_id: 'o-1', total: 79.8, currency: 'eur' },
      context: { traits: { email: 'ada@mail.example' } },
    },
    expected: {
      requests: [
        sent('/api/events', {
          data: {
            type: 'event',
            attributes: {
              properties: { order_id: 'o-1', total: 79.8, currency: 'eur' },
              metric: metric('Placed Order'),
              time: timestamp,
              value: 79.8,
              value_currency: 'EUR',
              unique_id: 'm-88',
              profile: ada,
            },
          },
        }),
      ],
    },
  },
  {
    name: 'An order with an event for each product',
    documented: true,
    config: { ...config, orderedProducts: true },
    event: {
      type: 'track',
      event: 'Order Completed',
      userId: 'u-4711',
      messageId: 'm-88',
      timestamp,
      properties: {
        order_id: 'o-1',
        total: 79.8,
        currency: 'EUR',
        products: [{ product_id: 'seat-b7', name: 'Seat', price: 39.9, quantity: 2 }],
      },
      context: { traits: { email: 'ada@mail.example' } },
    },
    expected: {
      requests: [
        sent('/api/event-bulk-create-jobs', {
          data: {
            type: 'event-bulk-create-job',
            attributes: {
              'events-bulk-create': {
                data: [
                  {
                    type: 'event-bulk-create',
                    attributes: {
                      profile: ada,
                      events: {
                        data: [
                          {
                            type: 'event',
                            attributes: {
                              properties: {
                                order_id: 'o-1',
                                total: 79.8,
                                currency: 'EUR',
                                products: [{ product_id: 'seat-b7', name: 'Seat', price: 39.9, quantity: 2 }],
                              },
                              metric: metric('Placed Order'),
                              time: timestamp,
                              value: 79.8,
                              value_currency: 'EUR',
                              unique_id: 'm-88',
                            },
                          },
                          {
                            type: 'event',
                            attributes: {
                              properties: {
                                order_id: 'o-1',
                                product_id: 'seat-b7',
                                name: 'Seat',
                                price: 39.9,
                                quantity: 2,
                              },
                              metric: metric('Ordered Product'),
                              time: timestamp,
                              value: 79.8,
                              value_currency: 'EUR',
                              unique_id: 'm-88-product-1',
                            },
                          },
                        ],
                      },
                    },
                  },
                ],
              },
            },
          },
        }),
      ],
    },
  },
  {
    name: 'A view of an anonymous visitor',
    documented: true,
    config: { ...config, metricNames: 'own' },
    event: {
      type: 'page',
      name: 'Hall B',
      anonymousId: 'a-9',
      messageId: 'm-88',
      timestamp,
      properties: { path: '/hall' },
    },
    expected: {
      requests: [
        sent('/api/events', {
          data: {
            type: 'event',
            attributes: {
              properties: { name: 'Hall B', path: '/hall' },
              metric: metric('Viewed Hall B Page'),
              time: timestamp,
              unique_id: 'm-88',
              profile: { data: { type: 'profile', attributes: { anonymous_id: 'a-9' } } },
            },
          },
        }),
      ],
    },
  },
  {
    name: 'Traits change lists and remove properties',
    documented: true,
    config: { ...config, appendTraits: ['genres'], unappendTraits: ['boring'], unsetTraits: ['plan'] },
    event: {
      type: 'identify',
      userId: 'u-4711',
      traits: { genres: ['drama'], boring: 'horror', plan: null, seats: 2 },
    },
    expected: {
      requests: [
        sent('/api/profile-import', {
          data: {
            type: 'profile',
            attributes: { external_id: 'u-4711', properties: { seats: 2 } },
            meta: {
              patch_properties: { append: { genres: ['drama'] }, unappend: { boring: 'horror' }, unset: ['plan'] },
            },
          },
        }),
      ],
    },
  },
  {
    name: 'Profiles in bulk, named by e-mail address only',
    documented: true,
    config: { ...config, bulkProfiles: true, userIdAs: 'property' },
    event: { type: 'identify', userId: 'u-4711', traits: { email: 'ada@mail.example', phone: '0660 1234567' } },
    expected: {
      requests: [
        sent('/api/profile-bulk-import-jobs', {
          data: {
            type: 'profile-bulk-import-job',
            attributes: {
              profiles: {
                data: [
                  {
                    type: 'profile',
                    attributes: {
                      email: 'ada@mail.example',
                      properties: { phone: '0660 1234567', user_id: 'u-4711' },
                    },
                  },
                ],
              },
            },
          },
        }),
      ],
    },
  },
  {
    name: 'A profile needs an id',
    documented: true,
    config,
    event: { type: 'identify', anonymousId: 'a-9', traits: { plan: 'gold' } },
    expected: { error: 'Klaviyo needs a user: the event has no email, no phone with country code and no userId' },
  },
]
