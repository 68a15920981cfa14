import { CLIENT_CERTIFICATE } from '../../certificates-under-test.ts'
import { TOKEN_HEADER } from '../../config/oauth.ts'
import { MASK } from '../../config/secrets.ts'
import type { DestinationCase } from '../../destination-case.ts'
import { requestObject } from '../../requests/request-object.ts'

const url = 'https://api.cinema.example/v1/seats'
const json = { 'content-type': 'application/json' }
const track = { type: 'track', event: 'Seat Reserved', userId: 'u-4711', properties: { hall: 'B', row: 7 } }

/** What a configuration gives for the address above. */
function gives(parts: Partial<Parameters<typeof requestObject>[0]>) {
  return { requests: [requestObject({ method: 'POST', endpoint: url, ...parts })] }
}

const LISTS = [
  ['JSON', 'application/json', '[{"seat":"B7"},{"seat":"C7"}]'],
  ['NDJSON', 'application/x-ndjson', '{"seat":"B7"}\n{"seat":"C7"}\n'],
] as const

/** The examples of docs/destinations/http.md, in its order. */
export const documentedCases: DestinationCase[] = [
  {
    name: 'A request is described with values of the event',
    documented: true,
    config: {
      url: 'https://api.cinema.example/v1/users/{{userId}}/seats',
      method: 'PUT',
      headers: [{ from: 'X-Hall', to: 'hall {{properties.hall}}' }],
      params: [{ from: 'lang', to: '{{context.locale}}' }],
      body: {
        title: '{{event}} in {{properties.hall}}',
        row: '{{properties.row}}',
        voucher: '{{properties.voucher}}',
        source: 'millrace',
      },
      authType: 'bearer',
      token: '7Hq2exampleToken',
    },
    event: {
      type: 'track',
      event: 'Seat Reserved',
      userId: 'u/47 11',
      properties: { hall: 'B', row: 7 },
      context: { locale: 'en-GB' },
    },
    expected: {
      requests: [
        {
          version: '1',
          type: 'REST',
          method: 'PUT',
          endpoint: 'https://api.cinema.example/v1/users/u%2F47%2011/seats',
          headers: {
            'content-type': 'application/json',
            'x-hall': 'hall B',
            authorization: 'Bearer 7Hq2exampleToken',
          },
          params: { lang: 'en-GB' },
          body: {
            JSON: { title: 'Seat Reserved in B', row: 7, source: 'millrace' },
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
    name: 'Values are escaped in XML',
    documented: true,
    config: {
      url: 'https://api.cinema.example/v1/seats',
      bodyFormat: 'XML',
      body: '<seat hall="{{properties.hall}}">{{properties.note}}</seat>',
    },
    event: { type: 'track', event: 'Seat Reserved', properties: { hall: 'B"', note: '</seat><admin/>' } },
    expected: {
      requests: [
        {
          version: '1',
          type: 'REST',
          method: 'POST',
          endpoint: 'https://api.cinema.example/v1/seats',
          headers: { 'content-type': 'application/xml' },
          params: {},
          body: {
            JSON: {},
            JSON_ARRAY: {},
            XML: { payload: '<seat hall="B&quot;">&lt;/seat&gt;&lt;admin/&gt;</seat>' },
            FORM: {},
          },
          files: {},
        },
      ],
    },
  },
  {
    name: 'A form with Basic authentication',
    documented: true,
    config: {
      url,
      bodyFormat: 'FORM',
      body: { hall: '{{properties.hall}}', who: 'user {{userId}}' },
      authType: 'basic',
      username: 'ada',
      password: 'x7Hq2exampleOnly',
    },
    event: track,
    expected: gives({
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        authorization: 'Basic YWRhOng3SHEyZXhhbXBsZU9ubHk=',
      },
      body: { FORM: { hall: 'B', who: 'user u-4711' } },
    }),
  },
  {
    name: 'A request without a body',
    documented: true,
    config: { url, bodyFormat: 'NONE', params: [{ from: 'row', to: '{{properties.row}}' }] },
    event: track,
    expected: gives({ params: { row: 7 } }),
  },
  {
    name: 'The properties alone are the body',
    documented: true,
    config: { url, method: 'PATCH', body: '{{properties}}' },
    event: track,
    expected: gives({ method: 'PATCH', headers: json, body: { JSON: { hall: 'B', row: 7 } } }),
  },
  {
    name: 'The access token is put in while sending',
    documented: true,
    config: {
      url,
      bodyFormat: 'NONE',
      authType: 'oauth2',
      oauthTokenUrl: 'https://login.cinema.example/oauth/token',
      oauthClientId: 'millrace',
      oauthClientSecret: 'kT2exampleSecret',
      oauthScope: 'seats:write',
    },
    event: track,
    expected: gives({ headers: { authorization: TOKEN_HEADER } }),
  },
  {
    name: 'A client certificate is part of the connection',
    documented: true,
    config: { url, bodyFormat: 'NONE', tlsCertificate: CLIENT_CERTIFICATE, tlsKey: MASK },
    event: track,
    expected: gives({}),
  },
  {
    name: 'A type that is not listed is not sent',
    documented: true,
    config: { url, messageTypes: ['identify', 'group'] },
    event: track,
    expected: { error: 'message type track not supported' },
  },
  ...LISTS.map(
    ([batchFormat, type, batch]): DestinationCase => ({
      name: `A list of events as ${batchFormat}`,
      documented: true,
      config: { url, batchSize: 10, batchFormat, body: { seat: '{{properties.hall}}{{properties.row}}' } },
      event: track,
      batch: {
        events: [{ ...track, properties: { hall: 'C', row: 7 } }],
        expected: requestObject({
          method: 'POST',
          endpoint: url,
          headers: { 'content-type': type },
          body: { JSON_ARRAY: { batch } },
        }),
      },
      expected: gives({ headers: json, body: { JSON: { seat: 'B7' } } }),
    }),
  ),
  {
    name: 'An address that lacks a value is not called',
    documented: true,
    config: { url: 'https://api.cinema.example/v1/users/{{userId}}', method: 'DELETE' },
    event: { type: 'track', event: 'Account Closed', anonymousId: 'a-9' },
    expected: { error: 'the event has no userId, which url needs' },
  },
]
