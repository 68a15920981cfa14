import { createHash } from 'node:crypto'
import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'

const config = { pixelId: '1234567890', accessToken: 'EAAx7Hq2-example-token' }
const timestamp = '2026-03-04T09:15:27.120Z'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

function sent(event: JsonObject, others: JsonObject = {}): RequestObject {
  return requestObject({
    method: 'POST',
    endpoint: 'https://graph.facebook.com/v26.0/1234567890/events',
    headers: { authorization: 'Bearer EAAx7Hq2-example-token', 'content-type': 'application/json' },
    body: { JSON: { data: [{ event_name: 'Purchase', event_time: 1772615727, ...event }], ...others } },
  })
}

/** The examples of docs/destinations/facebook-capi.md, one for each of what is mapped. */
export const documentedCases: DestinationCase[] = [
  {
    name: 'A purchase on a website',
    documented: true,
    config,
    event: {
      type: 'track',
      event: 'Order Completed',
      channel: 'web',
      userId: 'U-4711',
      anonymousId: 'a-9',
      messageId: 'm-88',
      timestamp,
      properties: {
        order_id: 'o-1',
        total: 83.8,
        currency: 'eur',
        products: [
          { product_id: 'seat-b7', name: 'Seat', price: 39.9, quantity: 2 },
          { product_id: 'popcorn', price: 4 },
        ],
      },
      context: {
        traits: { email: ' Ada@Mail.example', phone: '+43 (660) 1234567', firstName: 'Ada', lastName: 'Love-Lace' },
        page: { url: 'https://cinema.example/pay?fbclid=IwAR2', referrer: 'https://cinema.example/' },
        userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
        ip: '203.0.113.9',
      },
    },
    expected: {
      requests: [
        sent({
          event_id: 'm-88',
          event_source_url: 'https://cinema.example/pay?fbclid=IwAR2',
          referrer_url: 'https://cinema.example/',
          action_source: 'website',
          user_data: {
            em: [sha256('ada@mail.example')],
            ph: [sha256('436601234567')],
            fn: [sha256('ada')],
            ln: [sha256('lovelace')],
            external_id: [sha256('u-4711'), sha256('a-9')],
            client_ip_address: '203.0.113.9',
            client_user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
            fbc: 'fb.1.1772615727120.IwAR2',
          },
          custom_data: {
            value: 83.8,
            currency: 'EUR',
            order_id: 'o-1',
            content_ids: ['seat-b7', 'popcorn'],
            contents: [
              { id: 'seat-b7', quantity: 2, item_price: 39.9 },
              { id: 'popcorn', quantity: 1, item_price: 4 },
            ],
            content_type: 'product',
            num_items: 3,
          },
        }),
      ],
    },
  },
  {
    name: 'A page view, as a test event',
    documented: true,
    config: { ...config, testEventCode: 'TEST12345' },
    event: {
      type: 'page',
      channel: 'web',
      anonymousId: 'a-9',
      messageId: 'm-88',
      timestamp,
      context: {
        page: { url: 'https://cinema.example/b' },
        externalId: [
          { type: 'fbc', id: 'fb.1.1772615700000.IwAR2' },
          { type: 'fbp', id: 'fb.1.1772615700000.42' },
        ],
      },
    },
    expected: {
      requests: [
        sent(
          {
            event_name: 'PageView',
            event_id: 'm-88',
            event_source_url: 'https://cinema.example/b',
            action_source: 'website',
            user_data: {
              external_id: [sha256('a-9')],
              fbc: 'fb.1.1772615700000.IwAR2',
              fbp: 'fb.1.1772615700000.42',
            },
          },
          { test_event_code: 'TEST12345' },
        ),
      ],
    },
  },
  {
    name: 'An event of an app',
    documented: true,
    config,
    event: {
      type: 'track',
      event: 'Product Viewed',
      channel: 'mobile',
      userId: 'u-4711',
      messageId: 'm-88',
      timestamp,
      properties: { product_id: 'seat-b7', name: 'Seat', category: 'Hall B', price: 39.9, currency: 'EUR' },
      context: {
        app: { namespace: 'example.cinema', version: '3.2.0', build: '320' },
        os: { name: 'iOS', version: '19.1' },
        device: { model: 'iPhone16,1', advertisingId: 'idfa-1', adTrackingEnabled: true },
        network: { carrier: 'A1' },
        screen: { width: 393, height: 852, density: 3 },
        locale: 'de-AT',
        timezone: 'Europe/Vienna',
      },
    },
    expected: {
      requests: [
        sent({
          event_name: 'ViewContent',
          event_id: 'm-88',
          action_source: 'app',
          user_data: { external_id: [sha256('u-4711')], madid: 'idfa-1' },
          custom_data: {
            value: 39.9,
            currency: 'EUR',
            content_name: 'Seat',
            content_category: 'Hall B',
            content_ids: ['seat-b7'],
            contents: [{ id: 'seat-b7', quantity: 1, item_price: 39.9 }],
            content_type: 'product',
            num_items: 1,
          },
          app_data: {
            advertiser_tracking_enabled: 1,
            application_tracking_enabled: 1,
            extinfo: [
              ...['i2', 'example.cinema', '3.2.0', '320', '19.1', 'iPhone16,1', 'de-AT', ''],
              ...['A1', '393', '852', '3', '', '', '', 'Europe/Vienna'],
            ],
          },
        }),
      ],
    },
  },
  {
    name: 'An event under another name, with limited data use',
    documented: true,
    config: {
      ...config,
      actionSource: 'physical_store',
      eventNames: [{ eventName: 'Seat Reserved', name: 'Schedule' }],
      customProperties: ['hall'],
      limitedDataUse: true,
    },
    event: {
      type: 'track',
      event: 'seat reserved',
      messageId: 'm-88',
      timestamp,
      properties: { hall: 'B', row: 7, event_id: 'pixel-1' },
      context: {
        traits: {
          email: 'ada@mail.example',
          gender: 'female',
          birthday: '1990-12-10',
          address: { city: 'St. Pölten', state: 'NÖ', postalCode: '3100', country: 'AT' },
        },
      },
    },
    expected: {
      requests: [
        sent({
          event_name: 'Schedule',
          event_id: 'pixel-1',
          action_source: 'physical_store',
          user_data: {
            em: [sha256('ada@mail.example')],
            ge: [sha256('f')],
            db: [sha256('19901210')],
            ct: [sha256('stpölten')],
            st: [sha256('nö')],
            zp: [sha256('3100')],
            country: [sha256('at')],
          },
          custom_data: { hall: 'B' },
          data_processing_options: ['LDU'],
          data_processing_options_country: 0,
          data_processing_options_state: 0,
        }),
      ],
    },
  },
  {
    name: 'A purchase needs a currency',
    documented: true,
    config,
    event: { type: 'track', event: 'Order Completed', userId: 'u-4711', timestamp, properties: { total: 39.9 } },
    expected: { error: 'properties.currency is missing: Facebook requires the currency of a purchase' },
  },
]
