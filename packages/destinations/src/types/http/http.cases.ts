import type { JsonObject } from '@millrace/protocol'
import { TOKEN_HEADER } from '../../config/oauth.ts'
import type { DestinationCase } from '../../destination-case.ts'
import { requestObject } from '../../requests/request-object.ts'
import { documentedCases } from './documented-cases.ts'

const url = 'https://api.cinema.example/v1/seats'
const json = { 'content-type': 'application/json' }
const stored = { messageId: 'm-88', receivedAt: '2026-03-04T09:15:31.900Z', request_ip: '203.0.113.9' }
const track = { type: 'track', event: 'Seat Reserved', userId: 'u/47 11', properties: { hall: 'B', row: 7 }, ...stored }

/** What the track above gives with a configuration. */
function gives(parts: Partial<Parameters<typeof requestObject>[0]>) {
  return { requests: [requestObject({ method: 'POST', endpoint: url, ...parts })] }
}

function refused(error: string): { error: string } {
  return { error }
}

function bodies(): DestinationCase[] {
  const pair: JsonObject = { hall: '{{properties.hall}}', row: '{{properties.row}}', none: '{{properties.none}}' }
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const noValue = 'the event has no value for a placeholder of body'
  const table: [what: string, config: JsonObject, expected: DestinationCase['expected']][] = [
    ['without one, POST sends the event', {}, gives({ headers: json, body: { JSON: track } })],
    ['without one, GET sends none', { method: 'get' }, gives({ method: 'GET' })],
    ['without one, DELETE sends none', { method: 'DELETE' }, gives({ method: 'DELETE' })],
    ['of format NONE is left out', { bodyFormat: 'NONE', body: pair }, gives({})],
    ['of JSON keeps kinds', { body: pair }, gives({ headers: json, body: { JSON: { hall: 'B', row: 7 } } })],
    [
      'of JSON may be a list',
      { body: [pair, '{{event}}', 3, '{{properties.none}}'] },
      gives({ headers: json, body: { JSON_ARRAY: { batch: '[{"hall":"B","row":7},"Seat Reserved",3]' } } }),
    ],
    [
      'of JSON may be one placeholder',
      { body: '{{properties}}' },
      gives({ headers: json, body: { JSON: { hall: 'B', row: 7 } } }),
    ],
    [
      'of JSON that has lost all members is empty',
      { body: { none: '{{none}}' } },
      gives({ headers: json, body: { JSON_ARRAY: { batch: '{}' } } }),
    ],
    ['of JSON may not be a text', { body: '{{event}}' }, refused('body must be an object or a list')],
    ['of JSON may not be missing', { body: '{{none}}' }, refused('body must be an object or a list')],
    ['of FORM', { bodyFormat: 'FORM', body: pair }, gives({ headers: form, body: { FORM: { hall: 'B', row: 7 } } })],
    [
      'of FORM may be one placeholder',
      { bodyFormat: 'FORM', body: '{{properties}}' },
      gives({ headers: form, body: { FORM: { hall: 'B', row: 7 } } }),
    ],
    ['of FORM must be there', { bodyFormat: 'FORM' }, refused('body must be an object of form fields')],
    ['of XML must be a text', { bodyFormat: 'XML', body: pair }, refused('body must be a text of XML')],
    ['of XML needs its values', { bodyFormat: 'XML', body: '<a>{{none}}</a>' }, refused(noValue)],
    ['of another format', { bodyFormat: 'YAML' }, refused('Unsupported bodyFormat YAML')],
  ]
  return table.map(([what, config, expected]) => ({
    name: `A body ${what}`,
    config: { url, ...config },
    event: track,
    expected,
  }))
}

function addresses(): DestinationCase[] {
  const wrong = 'url must be an http or https address without placeholders in its host'
  const elsewhere = 'url would lead to another folder'
  const h = 'https://api.cinema.example'
  const table: [url: JsonObject[string], event: JsonObject, expected: string | { error: string }][] = [
    [`${h}/{{userId}}?hall={{properties.hall}}#{{event}}`, {}, `${h}/u%2F47%2011?hall=B#Seat%20Reserved`],
    [`${h}?u={{userId}}`, { userId: 'a&b=c#d' }, `${h}?u=a%26b%3Dc%23d`],
    [`${h}/{{properties}}`, {}, `${h}/%7B%22hall%22%3A%22B%22%2C%22row%22%3A7%7D`],
    [`${h}/{{ properties.row }}`, {}, `${h}/7`],
    [`${h}/{{properties.tags.1}}`, { properties: { tags: ['a', 'b'] } }, `${h}/b`],
    [`${h}/{{userId}}`, { userId: '@evil.example/' }, `${h}/%40evil.example%2F`],
    [`${h}/{{userId}}`, { userId: '{{event}}' }, `${h}/%7B%7Bevent%7D%7D`],
    [`${h}/{{userId}}`, { userId: '\ud800' }, `${h}/%EF%BF%BD`],
    [`${h}/{{userId}}/close`, { userId: '..' }, { error: elsewhere }],
    [`${h}/{{userId}}/close`, { userId: '.' }, { error: elsewhere }],
    [`${h}/.{{userId}}`, { userId: '.' }, { error: elsewhere }],
    [`${h}/{{userId}}%2e`, { userId: '.' }, { error: elsewhere }],
    [`${h}/a\\{{userId}}`, { userId: '..' }, { error: elsewhere }],
    [`${h}/x?path={{userId}}`, { userId: '..' }, `${h}/x?path=..`],
    [`${h}/{{userId}}`, { userId: '' }, { error: 'the event has no userId, which url needs' }],
    [`${h}/{{userId}}`, { userId: null }, { error: 'the event has no userId, which url needs' }],
    [`${h}/{{constructor.name}}`, {}, { error: 'the event has no constructor.name, which url needs' }],
    [`${h}/{{event.length}}`, {}, { error: 'the event has no event.length, which url needs' }],
    ['{{userId}}', { userId: 'https://evil.example/' }, { error: wrong }],
    ['https://{{userId}}/in', { userId: 'evil.example' }, { error: wrong }],
    ['https://api.cinema.example{{userId}}', { userId: '.evil.example' }, { error: wrong }],
    ['https://x:{{userId}}@api.cinema.example/', {}, { error: wrong }],
    ['https:\\\\{{userId}}/', {}, { error: wrong }],
    ['ftp://api.cinema.example/', {}, { error: wrong }],
    ['', {}, { error: wrong }],
    [null, {}, { error: wrong }],
  ]
  return table.map(([given, members, expected], n) => ({
    name: `An address, ${n + 1}: ${given} with ${JSON.stringify(members)}`,
    config: { url: given, bodyFormat: 'NONE' },
    event: { ...track, ...members },
    expected: typeof expected === 'string' ? gives({ endpoint: expected }) : expected,
  }))
}

function others(): DestinationCase[] {
  const from = (name: string, to: JsonObject[string], more = {}) => ({ from: name, to, ...more })
  const table: [what: string, config: JsonObject, expected: DestinationCase['expected']][] = [
    ['a method of any letter case is sent upper case', { method: 'Report' }, gives({ method: 'REPORT' })],
    ['an empty method is POST', { method: '' }, gives({})],
    ['CONNECT is no method', { method: 'connect' }, refused('Unsupported method connect')],
    ['a method is one word', { method: 'GET /' }, refused('Unsupported method GET /')],
    [
      'headers are named in lower case, the later one wins, and one without a value is left out',
      {
        headers: [from('X-A', '1'), from('x-a', '{{event}}!'), from('X-B', '{{none}}'), from(' ', 'x'), from('X-C', 3)],
      },
      gives({ headers: { 'x-a': 'Seat Reserved!', 'x-c': 3 } }),
    ],
    ['headers must be a list', { headers: { 'X-A': '1' } }, refused('headers must be a list of from and to')],
    [
      'params keep kinds and repeat names, and one without a value is left out',
      {
        params: [
          from('row', '{{properties.row}}'),
          from('u', '{{userId}}'),
          from('u', 'x'),
          from('n', 'no {{none}}'),
          from('__proto__', 'p'),
        ],
      },
      gives({ params: JSON.parse('{"row":7,"u":["u/47 11","x"],"__proto__":"p"}') as JsonObject }),
    ],
    ['params must be a list', { params: ['a'] }, refused('params must be a list of from and to')],
    [
      'user name and password go as Basic',
      { authType: 'basic', username: 'ada', password: '{{p}}' },
      gives({ headers: { authorization: 'Basic YWRhOnt7cH19' } }),
    ],
    [
      'a password may be empty, and authentication replaces a header',
      { authType: 'basic', username: 'ada', headers: [from('Authorization', 'Token 1')] },
      gives({ headers: { authorization: 'Basic YWRhOg==' } }),
    ],
    ['basic needs a user name', { authType: 'basic' }, refused('username is missing')],
    ['bearer needs a token', { authType: 'bearer', token: '' }, refused('token is missing')],
    ['other authentication', { authType: 'digest' }, refused('Unsupported authType digest')],
    [
      'traits may be those of the context',
      { params: [from('p', '{{traits.plan}}')] },
      gives({ params: { p: 'gold' } }),
    ],
    ['a type that is listed', { messageTypes: ['identify', 'track'] }, gives({})],
    [
      'the member secret decides what is masked of a header and a parameter',
      {
        headers: [
          from('X-Desk', 'desk-4711-b', { secret: true }),
          from('X-Api-Key', 'public-value', { secret: false }),
        ],
        params: [from('desk', 'desk-4711-b', { secret: true }), from('api_key', 'public-value', { secret: false })],
      },
      gives({
        headers: { 'x-desk': 'desk-4711-b', 'x-api-key': 'public-value' },
        params: { desk: 'desk-4711-b', api_key: 'public-value' },
      }),
    ],
    ['a type that is not', { messageTypes: ['identify'] }, refused('message type track not supported')],
  ]
  return table.map(([name, config, expected]) => ({
    name,
    config: { url, bodyFormat: 'NONE', ...config },
    event: { ...track, context: { traits: { plan: 'gold' } } },
    expected,
  }))
}

const oauth = {
  authType: 'oauth2',
  oauthTokenUrl: 'https://login.cinema.example/oauth/token',
  oauthClientId: 'millrace',
  oauthClientSecret: 'kT2exampleSecret',
  oauthClientAuth: 'post',
  oauthScope: 'seats:write',
  oauthParams: [
    { from: 'audience', to: 'https://api.cinema.example/' },
    { from: 'api_key', to: 'public-value', secret: false },
    { from: 'tenant', to: 'cinema-4711', secret: true },
  ],
}

/** Documents of TLS show in the connection alone; registry tests and those of delivery use real ones. */
const tls = { tlsCertificate: 'PEM', tlsKey: 'PEM', tlsKeyPassphrase: 'opensesame', tlsCa: 'PEM' }

const types: DestinationCase[] = ['identify', 'track', 'page', 'screen', 'group', 'alias'].map((type) => ({
  name: `only ${type} is sent`,
  config: { url, bodyFormat: 'NONE', messageTypes: [type] },
  event: { ...track, type },
  expected: gives({}),
}))

const accessTokens: DestinationCase[] = [
  {
    name: 'a client certificate does not show in the request',
    config: { url, ...tls },
    event: track,
    expected: gives({ headers: json, body: { JSON: track } }),
  },
  {
    name: 'an access token takes the place of a configured authorization',
    config: { url, ...oauth, headers: [{ from: 'Authorization', to: 'Bearer 7Hq2' }] },
    event: track,
    expected: gives({ headers: { ...json, authorization: TOKEN_HEADER }, body: { JSON: track } }),
  },
]

export const cases: DestinationCase[] = [
  ...documentedCases,
  ...bodies(),
  ...addresses(),
  ...others(),
  ...types,
  ...accessTokens,
]
