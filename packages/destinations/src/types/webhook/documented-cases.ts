import type { JsonObject } from '@millrace/protocol'
import { CLIENT_CERTIFICATE } from '../../certificates-under-test.ts'
import { MASK } from '../../config/secrets.ts'
import type { DestinationCase } from '../../destination-case.ts'
import { requestObject } from '../../requests/request-object.ts'

/** A request with an event as its JSON body. */
function posted({ endpoint = 'https://hooks.cinema.example/in', body }: { endpoint?: string; body: JsonObject }) {
  const headers = { 'content-type': 'application/json' }
  return { requests: [requestObject({ method: 'POST', endpoint, headers, body: { JSON: body } })] }
}

const SEAT = '{"type":"track","event":"Seat Reserved","userId":"u-4711"}'
const RELEASED = '{"type":"track","event":"Seat Released","userId":"u-4711"}'
const LISTS: Record<string, string> = { JSON: `[${SEAT},${RELEASED}]`, NDJSON: `${SEAT}\n${RELEASED}\n` }

/** The examples of docs/destinations/webhook.md, in its order. */
export const documentedCases: DestinationCase[] = [
  {
    name: 'An event is posted as JSON',
    documented: true,
    config: { webhookUrl: 'https://hooks.cinema.example/in' },
    event: {
      type: 'track',
      event: 'Seat Reserved',
      userId: 'u-4711',
      messageId: 'm-88',
      properties: { hall: 'B', row: 7, voucher: null },
      context: { locale: 'en-GB' },
      integrations: null,
      receivedAt: '2026-03-04T09:15:31.900Z',
      request_ip: '203.0.113.9',
    },
    expected: {
      requests: [
        {
          version: '1',
          type: 'REST',
          method: 'POST',
          endpoint: 'https://hooks.cinema.example/in',
          headers: { 'content-type': 'application/json' },
          params: {},
          body: {
            JSON: {
              type: 'track',
              event: 'Seat Reserved',
              userId: 'u-4711',
              messageId: 'm-88',
              properties: { hall: 'B', row: 7, voucher: null },
              context: { locale: 'en-GB', ip: '203.0.113.9' },
              receivedAt: '2026-03-04T09:15:31.900Z',
              request_ip: '203.0.113.9',
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
    name: 'An event says where and with which headers it goes',
    documented: true,
    config: {
      webhookUrl: 'https://hooks.cinema.example/in',
      webhookMethod: 'PUT',
      headers: [
        { from: 'X-Desk', to: '3' },
        { from: '', to: 'x' },
      ],
    },
    event: {
      type: 'identify',
      userId: 'u-88',
      anonymousId: 'e1b27573-4cfe-46d6-831b-5f718d3c8d94',
      request_ip: '203.0.113.9',
      context: { traits: { plan: 'gold', seats: [14, 15], phone: null } },
      groupId: null,
      appendPath: '/profiles',
      header: { 'X-Trace': 'abc', 'X-Num': 7 },
    },
    expected: {
      requests: [
        {
          version: '1',
          type: 'REST',
          method: 'PUT',
          endpoint: 'https://hooks.cinema.example/in/profiles',
          headers: { 'content-type': 'application/json', 'x-desk': '3', 'X-Trace': 'abc' },
          params: {},
          body: {
            JSON: {
              type: 'identify',
              userId: 'u-88',
              anonymousId: 'e1b27573-4cfe-46d6-831b-5f718d3c8d94',
              request_ip: '203.0.113.9',
              context: { traits: { plan: 'gold', seats: [14, 15], phone: null }, ip: '203.0.113.9' },
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
    name: 'GET carries the traits in the query',
    documented: true,
    config: { webhookUrl: 'https://hooks.cinema.example/in', webhookMethod: 'GET' },
    event: {
      type: 'identify',
      userId: 'u-88',
      context: { traits: { plan: 'gold', seats: [14, 15], address: { city: 'Graz' }, phone: null } },
    },
    expected: {
      requests: [
        {
          version: '1',
          type: 'REST',
          method: 'GET',
          endpoint: 'https://hooks.cinema.example/in',
          headers: {},
          params: { plan: 'gold', 'seats[0]': 14, 'seats[1]': 15, 'address.city': 'Graz', phone: null },
          body: { JSON: {}, JSON_ARRAY: {}, XML: {}, FORM: {} },
          files: {},
        },
      ],
    },
  },
  {
    name: 'Secret headers stay with the configured host',
    documented: true,
    config: {
      webhookUrl: 'https://hooks.cinema.example/in',
      headers: { Authorization: 'Bearer 7Hq2', 'X-Desk': '3' },
    },
    event: {
      type: 'track',
      event: 'Seat Reserved',
      userId: 'u-4711',
      fullPath: 'https://seats.cinema.example/booked',
    },
    expected: {
      requests: [
        {
          version: '1',
          type: 'REST',
          method: 'POST',
          endpoint: 'https://seats.cinema.example/booked',
          headers: { 'content-type': 'application/json', 'x-desk': '3' },
          params: {},
          body: {
            JSON: { type: 'track', event: 'Seat Reserved', userId: 'u-4711' },
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
    name: 'The integrations of an event change the path',
    documented: true,
    config: { webhookUrl: 'https://hooks.cinema.example/in', headers: { Authorization: 'Bearer 7Hq2' } },
    event: {
      type: 'track',
      event: 'Seat Reserved',
      userId: 'u-4711',
      integrations: { All: true, Webhook: { appendPath: '/seats?hall=B' } },
    },
    expected: {
      requests: [
        {
          version: '1',
          type: 'REST',
          method: 'POST',
          endpoint: 'https://hooks.cinema.example/in/seats?hall=B',
          headers: { 'content-type': 'application/json', authorization: 'Bearer 7Hq2' },
          params: {},
          body: {
            JSON: {
              type: 'track',
              event: 'Seat Reserved',
              userId: 'u-4711',
              integrations: { All: true, Webhook: { appendPath: '/seats?hall=B' } },
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
    name: 'The integrations of an event replace the path',
    documented: true,
    config: { webhookUrl: 'https://hooks.cinema.example/in?desk=3', headers: { Authorization: 'Bearer 7Hq2' } },
    event: {
      type: 'track',
      event: 'Seat Reserved',
      userId: 'u-4711',
      integrations: { Webhook: { fullPath: '/seats' } },
    },
    expected: posted({
      endpoint: 'https://hooks.cinema.example/seats',
      body: {
        type: 'track',
        event: 'Seat Reserved',
        userId: 'u-4711',
        integrations: { Webhook: { fullPath: '/seats' } },
      },
    }),
  },
  {
    name: 'The access token is put in while sending',
    documented: true,
    config: {
      webhookUrl: 'https://hooks.cinema.example/in',
      authType: 'oauth2',
      oauthTokenUrl: 'https://login.cinema.example/oauth/token',
      oauthClientId: 'millrace',
      oauthClientSecret: 'kT2exampleSecret',
      oauthClientAuth: 'post',
      oauthScope: 'events:write',
      oauthParams: [
        { from: 'audience', to: 'https://hooks.cinema.example/' },
        { from: 'tenant', to: 'cinema-4711', secret: true },
      ],
    },
    event: { type: 'track', event: 'Seat Reserved', userId: 'u-4711' },
    expected: {
      requests: [
        {
          version: '1',
          type: 'REST',
          method: 'POST',
          endpoint: 'https://hooks.cinema.example/in',
          headers: { 'content-type': 'application/json', authorization: 'Bearer ********' },
          params: {},
          body: {
            JSON: { type: 'track', event: 'Seat Reserved', userId: 'u-4711' },
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
    name: 'A client certificate is part of the connection',
    documented: true,
    config: {
      webhookUrl: 'https://hooks.cinema.example/in',
      tlsCertificate: CLIENT_CERTIFICATE,
      tlsKey: MASK,
    },
    event: { type: 'track', event: 'Seat Reserved', userId: 'u-4711' },
    expected: posted({ body: { type: 'track', event: 'Seat Reserved', userId: 'u-4711' } }),
  },
  {
    name: 'The signature is added while sending',
    documented: true,
    config: { webhookUrl: 'https://hooks.cinema.example/in', signingSecret: 'x7Hq2exampleSecretOnly' },
    event: { type: 'track', event: 'Seat Reserved', userId: 'u-4711' },
    expected: posted({ body: { type: 'track', event: 'Seat Reserved', userId: 'u-4711' } }),
  },
  ...['JSON', 'NDJSON'].map(
    (batchFormat): DestinationCase => ({
      name: `A list of events as ${batchFormat}`,
      documented: true,
      config: { webhookUrl: 'https://hooks.cinema.example/in', batchSize: 100, batchFormat },
      event: { type: 'track', event: 'Seat Reserved', userId: 'u-4711' },
      batch: {
        events: [{ type: 'track', event: 'Seat Released', userId: 'u-4711' }],
        expected: requestObject({
          method: 'POST',
          endpoint: 'https://hooks.cinema.example/in',
          headers: { 'content-type': batchFormat === 'JSON' ? 'application/json' : 'application/x-ndjson' },
          body: { JSON_ARRAY: { batch: LISTS[batchFormat]! } },
        }),
      },
      expected: posted({ body: { type: 'track', event: 'Seat Reserved', userId: 'u-4711' } }),
    }),
  ),
  {
    name: 'Without an address there is no request',
    documented: true,
    config: { webhookMethod: 'POST' },
    event: { type: 'track', event: 'Seat Reserved', fullPath: 'https://seats.cinema.example/booked' },
    expected: { error: 'Invalid URL in destination config' },
  },
]
