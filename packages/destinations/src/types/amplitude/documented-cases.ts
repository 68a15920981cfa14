import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'

const config = { apiKey: 'x7Hq2exampleApiKeyOnly' }
const track = { type: 'track', event: 'Seat Reserved', userId: 'u-4711', messageId: 'm-88' }
const page = { type: 'page', name: 'Hall B', anonymousId: 'a-9', messageId: 'm-88' }
const plain = { event_properties: {}, user_properties: {} }

function upload(...events: JsonObject[]): RequestObject {
  return requestObject({
    method: 'POST',
    endpoint: 'https://api2.amplitude.com/2/httpapi',
    headers: { 'content-type': 'application/json' },
    body: { JSON: { api_key: config.apiKey, events, options: { min_id_length: 1 } } },
  })
}

/** The examples of docs/destinations/amplitude.md, one for each of what is mapped. */
export const documentedCases: DestinationCase[] = [
  {
    name: 'An event with its user, device and place',
    documented: true,
    config,
    event: {
      ...track,
      anonymousId: 'a-9',
      timestamp: '2026-03-04T09:15:27.120Z',
      properties: { hall: 'B', row: 7 },
      request_ip: '203.0.113.9',
      context: {
        traits: { plan: 'gold' },
        app: { version: '3.2.0' },
        device: { manufacturer: 'Google', model: 'Pixel 8', type: 'Android' },
        os: { name: 'Android', version: '15' },
        locale: 'de-DE',
        sessionId: 1772615700,
      },
    },
    expected: {
      requests: [
        upload({
          user_id: 'u-4711',
          device_id: 'a-9',
          event_type: 'Seat Reserved',
          time: 1772615727120,
          insert_id: 'm-88',
          session_id: 1772615700000,
          event_properties: { hall: 'B', row: 7 },
          user_properties: { plan: 'gold' },
          platform: 'Android',
          os_name: 'Android',
          os_version: '15',
          device_manufacturer: 'Google',
          device_model: 'Pixel 8',
          app_version: '3.2.0',
          language: 'de-DE',
          ip: '203.0.113.9',
        }),
      ],
    },
  },
  {
    name: 'A group call says what its group is, and who belongs to it',
    documented: true,
    config: { apiKey: 'x7Hq2exampleApiKeyOnly', groupType: 'cinema' },
    event: {
      type: 'group',
      userId: 'u-4711',
      groupId: 'c-12',
      messageId: 'm-88',
      traits: { city: 'Graz', halls: 4 },
    },
    expected: {
      requests: [
        requestObject({
          method: 'POST',
          endpoint: 'https://api2.amplitude.com/groupidentify',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: {
            FORM: {
              api_key: 'x7Hq2exampleApiKeyOnly',
              identification:
                '[{"group_type":"cinema","group_value":"c-12","group_properties":{"city":"Graz","halls":4}}]',
            },
          },
        }),
        upload({
          user_id: 'u-4711',
          event_type: '$identify',
          insert_id: 'm-88',
          ...plain,
          groups: { cinema: 'c-12' },
        }),
      ],
    },
  },
  {
    name: 'An event carries the groups that traits name',
    documented: true,
    config: { ...config, groupTraits: ['company', 'team'] },
    event: { ...track, context: { traits: { company: 'c-12', team: ['red', 'blue'] } } },
    expected: {
      requests: [
        upload({
          user_id: 'u-4711',
          event_type: 'Seat Reserved',
          insert_id: 'm-88',
          event_properties: {},
          user_properties: { company: 'c-12', team: ['red', 'blue'] },
          groups: { company: 'c-12', team: ['red', 'blue'] },
        }),
      ],
    },
  },
  {
    name: 'An order counts as revenue',
    documented: true,
    config,
    event: { ...track, properties: { revenue: 79.8, price: 39.9, quantity: 2, product_id: 'seat-b7' } },
    expected: {
      requests: [
        upload({
          user_id: 'u-4711',
          event_type: 'Seat Reserved',
          insert_id: 'm-88',
          event_properties: { revenue: 79.8, price: 39.9, quantity: 2, product_id: 'seat-b7' },
          user_properties: {},
          price: 39.9,
          quantity: 2,
          revenue: 79.8,
          productId: 'seat-b7',
        }),
      ],
    },
  },
  {
    name: 'Each product of an order counts as revenue',
    documented: true,
    config: { ...config, revenue: 'product' },
    event: {
      ...track,
      event: 'Order Completed',
      properties: {
        revenue: 43.4,
        products: [
          { product_id: 'seat-b7', price: 39.9, quantity: 1 },
          { sku: 'popcorn', price: 3.5 },
        ],
      },
    },
    expected: {
      requests: [
        upload(
          {
            user_id: 'u-4711',
            event_type: 'Order Completed',
            insert_id: 'm-88',
            event_properties: {
              revenue: 43.4,
              products: [
                { product_id: 'seat-b7', price: 39.9, quantity: 1 },
                { sku: 'popcorn', price: 3.5 },
              ],
            },
            user_properties: {},
          },
          {
            user_id: 'u-4711',
            event_type: 'Product Purchased',
            insert_id: 'm-88-product-1',
            event_properties: { product_id: 'seat-b7', price: 39.9, quantity: 1 },
            user_properties: {},
            price: 39.9,
            quantity: 1,
            productId: 'seat-b7',
          },
          {
            user_id: 'u-4711',
            event_type: 'Product Purchased',
            insert_id: 'm-88-product-2',
            event_properties: { sku: 'popcorn', price: 3.5 },
            user_properties: {},
            price: 3.5,
            productId: 'popcorn',
          },
        ),
      ],
    },
  },
  {
    name: 'An alias maps the former id to the new one',
    documented: true,
    config: { ...config, mapAlias: true },
    event: { type: 'alias', userId: 'ada@mail.example', previousId: 'u-4711' },
    expected: {
      requests: [
        requestObject({
          method: 'POST',
          endpoint: 'https://api.amplitude.com/usermap',
          params: {
            mapping: '[{"user_id":"u-4711","global_user_id":"ada@mail.example"}]',
            api_key: 'x7Hq2exampleApiKeyOnly',
          },
        }),
      ],
    },
  },
  {
    name: 'Browser, system and device come from the user agent',
    documented: true,
    config,
    event: {
      ...track,
      channel: 'web',
      context: {
        userAgent:
          'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
      },
    },
    expected: {
      requests: [
        upload({
          user_id: 'u-4711',
          event_type: 'Seat Reserved',
          insert_id: 'm-88',
          ...plain,
          platform: 'Web',
          os_name: 'Chrome',
          os_version: '126.0.0.0',
          device_model: 'Windows',
        }),
      ],
    },
  },
  {
    name: 'Campaign and referrer become properties of the user',
    documented: true,
    config: { ...config, attribution: true },
    event: {
      ...page,
      context: {
        campaign: { source: 'newsletter', medium: 'email', name: 'autumn', term: 'seat', content: 'top' },
        page: { url: 'https://www.cinema.example/', referrer: 'https://mail.example/inbox' },
      },
    },
    expected: {
      requests: [
        upload(
          {
            device_id: 'a-9',
            event_type: '$identify',
            insert_id: 'm-88-attribution',
            event_properties: {},
            user_properties: {
              $set: {
                utm_source: 'newsletter',
                utm_medium: 'email',
                utm_campaign: 'autumn',
                utm_term: 'seat',
                utm_content: 'top',
                referrer: 'https://mail.example/inbox',
                referring_domain: 'mail.example',
              },
              $setOnce: {
                initial_utm_source: 'newsletter',
                initial_utm_medium: 'email',
                initial_utm_campaign: 'autumn',
                initial_utm_term: 'seat',
                initial_utm_content: 'top',
                initial_referrer: 'https://mail.example/inbox',
                initial_referring_domain: 'mail.example',
              },
            },
          },
          { device_id: 'a-9', event_type: 'Viewed Hall B Page', insert_id: 'm-88', ...plain },
        ),
      ],
    },
  },
  {
    name: 'Configured traits change the user by operations',
    documented: true,
    config: {
      ...config,
      addTraits: ['visits'],
      setOnceTraits: ['firstVisit'],
      appendTraits: ['films'],
      prependTraits: ['recent'],
      unsetTraits: ['coupon'],
    },
    event: {
      type: 'identify',
      userId: 'u-4711',
      messageId: 'm-88',
      traits: {
        plan: 'gold',
        visits: 1,
        firstVisit: '2026-03-04',
        films: 'Metropolis',
        recent: 'B7',
        coupon: null,
      },
    },
    expected: {
      requests: [
        upload({
          user_id: 'u-4711',
          event_type: '$identify',
          insert_id: 'm-88',
          event_properties: {},
          user_properties: {
            $set: { plan: 'gold' },
            $add: { visits: 1 },
            $setOnce: { firstVisit: '2026-03-04' },
            $append: { films: 'Metropolis' },
            $prepend: { recent: 'B7' },
            $unset: { coupon: '-' },
          },
        }),
      ],
    },
  },
  {
    name: 'Templates name pages and screens',
    documented: true,
    config: { ...config, pageName: 'Page Viewed', screenName: '{{context.app.name}} {{name}}' },
    event: { ...page, properties: { path: '/hall' } },
    expected: {
      requests: [
        upload({
          device_id: 'a-9',
          event_type: 'Page Viewed',
          insert_id: 'm-88',
          event_properties: { name: 'Hall B', path: '/hall' },
          user_properties: {},
        }),
      ],
    },
  },
  {
    name: 'Ids of the device, the session and the event',
    documented: true,
    config: { ...config, eventId: '{{properties.counter}}' },
    event: {
      ...track,
      properties: { counter: 23 },
      context: {
        device: { type: 'iOS', id: 'idfv-1', advertisingId: 'idfa-1' },
        location: { dma: 'San Francisco-Oakland-San Jose, CA' },
        sessionId: 1772615700,
      },
    },
    expected: {
      requests: [
        upload({
          user_id: 'u-4711',
          event_type: 'Seat Reserved',
          insert_id: 'm-88',
          event_id: 23,
          session_id: 1772615700000,
          event_properties: { counter: 23 },
          user_properties: {},
          platform: 'iOS',
          dma: 'San Francisco-Oakland-San Jose, CA',
          idfa: 'idfa-1',
          idfv: 'idfv-1',
        }),
      ],
    },
  },
  {
    name: 'Ids of an Android device, its carrier and place',
    documented: true,
    config,
    event: {
      ...track,
      context: {
        device: { type: 'Android', id: 'android-1', advertisingId: 'adid-1', brand: 'Fairphone' },
        network: { carrier: 'A1' },
        location: { country: 'Austria', region: 'Styria', city: 'Graz', latitude: 47.07, longitude: 15.44 },
      },
    },
    expected: {
      requests: [
        upload({
          user_id: 'u-4711',
          event_type: 'Seat Reserved',
          insert_id: 'm-88',
          ...plain,
          platform: 'Android',
          device_brand: 'Fairphone',
          carrier: 'A1',
          country: 'Austria',
          region: 'Styria',
          city: 'Graz',
          location_lat: 47.07,
          location_lng: 15.44,
          adid: 'adid-1',
          android_id: 'android-1',
        }),
      ],
    },
  },
  {
    name: 'Events of several users are one upload',
    documented: true,
    config,
    event: track,
    batch: {
      events: [{ ...track, userId: 'u-4712', messageId: 'm-89' }],
      expected: upload(
        { user_id: 'u-4711', event_type: 'Seat Reserved', insert_id: 'm-88', ...plain },
        { user_id: 'u-4712', event_type: 'Seat Reserved', insert_id: 'm-89', ...plain },
      ),
    },
    expected: {
      requests: [upload({ user_id: 'u-4711', event_type: 'Seat Reserved', insert_id: 'm-88', ...plain })],
    },
  },
]
