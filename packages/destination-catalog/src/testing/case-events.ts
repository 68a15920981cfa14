import type { JsonObject } from '@millrace/protocol'

const CONTEXT: JsonObject = {
  ip: '203.0.113.7',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
  page: {
    url: 'https://cinema.example/seats?hall=B',
    path: '/seats',
    title: 'Seats',
    referrer: 'https://cinema.example/',
    search: '?hall=B',
  },
  library: { name: 'millrace-web', version: '1.0.0' },
  locale: 'en-GB',
  timezone: 'Europe/London',
  campaign: { name: 'winter', source: 'letter', medium: 'email' },
  device: { id: 'device-1', type: 'ios', advertisingId: '3F2504E0-4F89-11D3-9A0C-0305E82C3301', model: 'P1' },
  os: { name: 'iOS', version: '17.2' },
  app: { name: 'Cinema', version: '1.2', build: '3', namespace: 'example.cinema' },
  traits: { email: 'ada@cinema.example' },
  groupId: 'g-7',
}

const COMMON: JsonObject = {
  messageId: '0d2f9a40-6f1e-4b5e-9a0e-6d3f1f9b2c11',
  userId: 'u-42',
  anonymousId: '5b1c7d1e-2f63-4d21-8a4f-1f0b5f0c9a77',
  timestamp: '2026-11-20T09:30:00.123Z',
  originalTimestamp: '2026-11-20T09:30:00.123Z',
  sentAt: '2026-11-20T09:30:00.500Z',
  receivedAt: '2026-11-20T09:30:01.000Z',
  channel: 'web',
}

const TRAITS: JsonObject = {
  email: 'ada@cinema.example',
  first_name: 'Ada',
  firstName: 'Ada',
  last_name: 'Miller',
  lastName: 'Miller',
  name: 'Ada Miller',
  phone: '+442071838750',
  createdAt: '2026-01-01T00:00:00.000Z',
}

/** Events that were written for this project, by the names that cases give them. */
export const CASE_EVENTS: Readonly<Record<string, JsonObject>> = {
  identify: { ...COMMON, type: 'identify', traits: TRAITS, context: CONTEXT },
  order: {
    ...COMMON,
    type: 'track',
    event: 'Order Completed',
    properties: {
      order_id: 'A-1001',
      total: 39.9,
      revenue: 39.9,
      value: 39.9,
      currency: 'EUR',
      email: 'ada@cinema.example',
      products: [{ product_id: 'p-1', sku: 's-1', name: 'Film', price: 19.95, quantity: 2, category: 'tickets' }],
    },
    context: CONTEXT,
  },
  group: {
    ...COMMON,
    type: 'group',
    groupId: 'g-7',
    traits: { id: 'g-7', name: 'Friends of the cinema', email: 'friends@cinema.example' },
    context: CONTEXT,
  },
  audience: {
    ...COMMON,
    type: 'track',
    event: 'Audience Entered',
    properties: { email: 'ada@cinema.example', regulars: true, audience_key: 'regulars' },
    context: {
      ...CONTEXT,
      personas: {
        computation_class: 'audience',
        computation_key: 'regulars',
        computation_id: 'aud_1',
        external_audience_id: '4711',
        namespace: 'spa_1',
        space_id: 'spa_1',
        audience_settings: { id_type: 'BY_USER_ID' },
      },
    },
  },
}
