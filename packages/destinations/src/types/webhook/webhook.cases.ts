import type { JsonObject } from '@millrace/protocol'
import { TOKEN_HEADER } from '../../config/oauth.ts'
import type { DestinationCase } from '../../destination-case.ts'
import { requestObject } from '../../requests/request-object.ts'
import { documentedCases } from './documented-cases.ts'

const url = 'https://hooks.cinema.example/in'
const json = { 'content-type': 'application/json' }
const stored = { messageId: 'm-88', receivedAt: '2026-03-04T09:15:31.900Z', request_ip: '203.0.113.9' }
const track = { type: 'track', event: 'Seat Reserved', userId: 'u-4711', properties: { hall: 'B', row: 7 }, ...stored }
const identify = { type: 'identify', userId: 'u-4711', ...stored }

const token = { from: 'Authorization', to: 'Bearer 7Hq2' }
const desk = { from: 'X-Desk', to: '3' }

/** The track above, sent as it is. */
function posted(parts: { method?: string; endpoint?: string; headers?: JsonObject; body?: JsonObject }) {
  const { method = 'POST', endpoint = url, headers = {}, body = track } = parts
  return { requests: [requestObject({ method, endpoint, headers: { ...json, ...headers }, body: { JSON: body } })] }
}

/** A request without a body. */
function asked(parts: { method?: string; headers?: JsonObject; params?: JsonObject }) {
  const { method = 'GET', headers = {}, params = { hall: 'B', row: 7 } } = parts
  return { requests: [requestObject({ method, endpoint: url, headers, params })] }
}

const addresses: DestinationCase[] = [
  {
    name: 'an event that says where and with which headers it goes does so with GET too',
    config: { ...documentedCases[1]!.config, webhookMethod: 'GET' },
    event: documentedCases[1]!.event,
    expected: {
      requests: [
        requestObject({
          method: 'GET',
          endpoint: 'https://hooks.cinema.example/in/profiles',
          headers: { 'x-desk': '3', 'X-Trace': 'abc' },
          params: { plan: 'gold', 'seats[0]': 14, 'seats[1]': 15, phone: null },
        }),
      ],
    },
  },
  ...['', null, 7, ['https://hooks.cinema.example/in']].map(
    (webhookUrl): DestinationCase => ({
      name: `webhookUrl ${JSON.stringify(webhookUrl)} is no address`,
      config: { webhookUrl },
      event: track,
      expected: { error: 'Invalid URL in destination config' },
    }),
  ),
  ...['http://169.254.169.254/latest', 'https://nowhere.invalid', 'not an address', 'ftp://files.cinema.example'].map(
    (webhookUrl): DestinationCase => ({
      name: `webhookUrl ${webhookUrl} is not judged before sending`,
      config: { webhookUrl },
      event: track,
      expected: posted({ endpoint: webhookUrl }),
    }),
  ),
  {
    name: 'fullPath replaces the address',
    config: { webhookUrl: url },
    event: { ...track, fullPath: 'https://hooks.cinema.example/other?a=1' },
    expected: posted({ endpoint: 'https://hooks.cinema.example/other?a=1' }),
  },
  {
    name: 'appendPath is added as it is, behind a query too',
    config: { webhookUrl: `${url}?desk=3` },
    event: { ...track, appendPath: '&hall=B é' },
    expected: posted({ endpoint: `${url}?desk=3&hall=B é` }),
  },
  {
    name: 'fullPath and appendPath work together',
    config: { webhookUrl: url },
    event: { ...track, fullPath: 'https://hooks.cinema.example/v2', appendPath: '/profiles' },
    expected: posted({ endpoint: 'https://hooks.cinema.example/v2/profiles' }),
  },
  {
    name: 'fullPath and appendPath that are empty or no text are ignored and left out of the body',
    config: { webhookUrl: url },
    event: { ...track, fullPath: '', appendPath: 7 },
    expected: posted({}),
  },
  {
    name: 'fullPath and appendPath work the same with GET',
    config: { webhookUrl: 'https://hooks.cinema.example', webhookMethod: 'GET' },
    event: { ...track, fullPath: url, appendPath: '' },
    expected: asked({}),
  },
]

const methods: DestinationCase[] = [
  ...['POST', 'post', 'Put', 'pATCH'].map(
    (webhookMethod): DestinationCase => ({
      name: `webhookMethod ${webhookMethod} carries a body`,
      config: { webhookUrl: url, webhookMethod },
      event: track,
      expected: posted({ method: webhookMethod.toUpperCase() }),
    }),
  ),
  ...['GET', 'gEt', 'DELETE', 'delete'].map(
    (webhookMethod): DestinationCase => ({
      name: `webhookMethod ${webhookMethod} carries params`,
      config: { webhookUrl: url, webhookMethod },
      event: track,
      expected: asked({ method: webhookMethod.toUpperCase() }),
    }),
  ),
  ...['', null].map(
    (webhookMethod): DestinationCase => ({
      name: `webhookMethod ${JSON.stringify(webhookMethod)} is POST`,
      config: { webhookUrl: url, webhookMethod },
      event: track,
      expected: posted({}),
    }),
  ),
  ...['FOO', 'HEAD', ' POST', 7, true].map(
    (webhookMethod): DestinationCase => ({
      name: `webhookMethod ${JSON.stringify(webhookMethod)} is refused`,
      config: { webhookUrl: url, webhookMethod },
      event: track,
      expected: { error: `Unsupported webhookMethod ${webhookMethod}` },
    }),
  ),
]

const headers: DestinationCase[] = [
  {
    name: 'headers as a list: names in lower case, empty ones skipped, the later of equals wins',
    config: {
      webhookUrl: url,
      headers: [
        { from: 'X-Hall', to: 'A' },
        { from: '', to: 'x' },
        { from: '  ', to: 'y' },
        desk,
        { from: 'x-HALL', to: 'B' },
      ],
    },
    event: track,
    expected: posted({ headers: { 'x-hall': 'B', 'x-desk': '3' } }),
  },
  {
    name: 'headers as an object',
    config: { webhookUrl: url, headers: { 'X-Desk': '3', '': 'x', 'X-HALL': 'A', 'x-hall': 'B' } },
    event: track,
    expected: posted({ headers: { 'x-desk': '3', 'x-hall': 'B' } }),
  },
  {
    name: 'values of headers are used as text',
    config: {
      webhookUrl: url,
      headers: [
        { from: 'X-Desk', to: 3 },
        { from: 'X-Open', to: true },
        { from: 'X-Row', to: '' },
      ],
    },
    event: track,
    expected: posted({ headers: { 'x-desk': '3', 'x-open': 'true', 'x-row': '' } }),
  },
  ...[null, [], {}].map(
    (none): DestinationCase => ({
      name: `headers ${JSON.stringify(none)} are none`,
      config: { webhookUrl: url, headers: none },
      event: track,
      expected: posted({}),
    }),
  ),
  ...['X-Desk: 3', 7, true, ['X-Desk: 3'], [desk, null], [[desk]]].map(
    (wrong): DestinationCase => ({
      name: `headers ${JSON.stringify(wrong)} are refused`,
      config: { webhookUrl: url, headers: wrong },
      event: track,
      expected: { error: 'headers must be a list or an object' },
    }),
  ),
  {
    name: 'a configured content type replaces the default',
    config: { webhookUrl: url, headers: [{ from: 'Content-Type', to: 'application/vnd.cinema+json' }] },
    event: track,
    expected: posted({ headers: { 'content-type': 'application/vnd.cinema+json' } }),
  },
  {
    name: 'GET has the configured headers and no content type of its own',
    config: { webhookUrl: url, webhookMethod: 'GET', headers: [token, desk] },
    event: { ...track, header: { 'X-Trace': 'abc' } },
    expected: asked({ headers: { authorization: 'Bearer 7Hq2', 'x-desk': '3', 'X-Trace': 'abc' } }),
  },
  {
    name: 'of the event member header, entries with a text are added with their names as given',
    config: { webhookUrl: url, headers: [desk] },
    event: {
      ...track,
      header: { 'X-Trace': 'abc', 'x-desk': '4', 'X-Num': 7, 'X-Yes': true, 'X-No': null, 'X-Obj': {} },
    },
    expected: posted({ headers: { 'x-desk': '4', 'X-Trace': 'abc' } }),
  },
  ...[
    ...['Host', 'HOST', 'host ', 'Connection', 'Keep-Alive', 'Proxy-Authorization', 'TE', 'Trailer', 'Upgrade'],
    ...['Transfer-Encoding', 'Content-Length', 'Expect', 'Forwarded', 'X-Forwarded-Host', 'X-Original-URL'],
  ].map(
    (name): DestinationCase => ({
      name: `the event member header cannot set ${JSON.stringify(name)}, which the configuration can`,
      config: { webhookUrl: url, headers: { Host: 'in.cinema.example', 'X-Desk': '3' } },
      event: { ...track, header: { [name]: 'evil.example', 'X-Trace': 'abc' } },
      expected: posted({ headers: { host: 'in.cinema.example', 'x-desk': '3', 'X-Trace': 'abc' } }),
    }),
  ),
  ...['X-Trace: abc', ['abc'], null, 7].map(
    (header): DestinationCase => ({
      name: `the event member header ${JSON.stringify(header)} is ignored and left out of the body`,
      config: { webhookUrl: url },
      event: { ...track, header },
      expected: posted({}),
    }),
  ),
]

/** Which of the token and the desk header arrive when the event changes the address. */
const secrets: DestinationCase[] = (
  [
    ['the same address, written otherwise', url, { fullPath: 'HTTPS://Hooks.Cinema.Example:443/in' }, [], true],
    ['a path below', url, { appendPath: '/profiles' }, [], true],
    ['a path below, named in full', url, { fullPath: `${url}/profiles?a=1` }, [], true],
    ['a path below a folder', `${url}/`, { appendPath: 'profiles' }, [], true],
    ['any path of a host without one', 'https://hooks.cinema.example', { appendPath: '/profiles' }, [], true],
    ['the same path with a query', url, { appendPath: '?hall=B' }, [], true],
    ['another path of the same origin', url, { fullPath: 'https://hooks.cinema.example/other' }, [], false],
    ['a path that begins alike', url, { appendPath: 'side' }, [], false],
    ['a path that leads up', url, { appendPath: '/../other' }, [], false],
    ['a path that leads up, encoded', url, { appendPath: '/%2e%2e/other' }, [], false],
    ['a path that leads up for a server that decodes it', url, { appendPath: '/..%2fother' }, [], false],
    ['a path that leads up for a server that decodes it twice', url, { appendPath: '/%252e%252e/other' }, [], false],
    ['a path that leads up for a server with path parameters', url, { appendPath: '/..;/other' }, [], false],
    [
      'another path of an allowed host',
      url,
      { fullPath: 'https://hooks.cinema.example/other' },
      ['hooks.cinema.example'],
      true,
    ],
    ['another host', url, { fullPath: 'https://evil.example/in' }, [], false],
    ['another scheme', url, { fullPath: 'http://hooks.cinema.example/in' }, [], false],
    ['another port', url, { fullPath: 'https://hooks.cinema.example:8443/in' }, [], false],
    ['a longer host name', 'https://hooks.cinema.example', { appendPath: '.evil.example/in' }, [], false],
    ['a host that only looks alike', url, { fullPath: 'https://hooks.cinema.example@evil.example/' }, [], false],
    ['no address', url, { fullPath: 'nonsense' }, [], false],
    ['an allowed host', url, { fullPath: 'https://Seats.cinema.example/in' }, ['seats.Cinema.example'], true],
    [
      'an allowed host with a port',
      url,
      { fullPath: 'https://seats.cinema.example:81/' },
      ['seats.cinema.example'],
      true,
    ],
    ['part of an allowed host', url, { fullPath: 'https://a.seats.cinema.example/' }, ['seats.cinema.example'], false],
    ['a host when allowedHosts is no list', url, { fullPath: 'https://evil.example/' }, 'evil.example', false],
  ] as const
).map(([where, webhookUrl, steering, allowedHosts, arrives]) => {
  const { fullPath = webhookUrl, appendPath = '' } = steering as { fullPath?: string; appendPath?: string }
  return {
    name: `secret headers ${arrives ? 'go' : 'do not go'} to ${where}`,
    config: { webhookUrl, headers: [token, desk], allowedHosts: allowedHosts as string | string[] },
    event: { ...track, ...steering },
    expected: posted({
      endpoint: fullPath + appendPath,
      headers: { ...(arrives ? { authorization: 'Bearer 7Hq2' } : {}), 'x-desk': '3' },
    }),
  }
})

const secretRules: DestinationCase[] = [
  ...(
    [
      // What was the host becomes a user name.
      ['https://hooks.cinema.example', '@evil.example/in', 'https://evil.example/in'],
      ['https://ada:pw@hooks.cinema.example', '.evil.example/in', 'https://hooks.cinema.example.evil.example/in'],
      ['https://ada:pw@hooks.cinema.example', '@evil.example/in', 'https://evil.example/in'],
      ['https://ada:pw@hooks.cinema.example', ':8443/in', 'https://hooks.cinema.example:8443/in'],
      ['https://ada@hooks.cinema.example/in', '/../other', 'https://hooks.cinema.example/other'],
    ] as const
  ).map(
    ([webhookUrl, appendPath, endpoint]): DestinationCase => ({
      name: `no secret of ${webhookUrl} goes to ${endpoint}`,
      config: { webhookUrl, headers: [token] },
      event: { ...track, appendPath },
      expected: posted({ endpoint }),
    }),
  ),
  {
    name: 'user and password of the address go to a path below it',
    config: { webhookUrl: 'https://ada:pw@hooks.cinema.example/in' },
    event: { ...track, appendPath: '/profiles' },
    expected: posted({ endpoint: 'https://ada:pw@hooks.cinema.example/in/profiles' }),
  },
  {
    name: 'at another host, the member secret decides which headers are left out, and else the rule for names',
    config: {
      webhookUrl: url,
      headers: [
        { from: 'X-Desk', to: '3', secret: true },
        { from: 'X-Api-Key', to: 'open', secret: false },
        { from: ' X-Auth-Token ', to: 'b' },
        { from: 'X-Plain', to: 'Basic dTpw' },
        { from: 'User-Agent', to: 'Token booth' },
      ],
    },
    event: { ...track, fullPath: 'https://evil.example/' },
    expected: posted({
      endpoint: 'https://evil.example/',
      headers: { 'x-api-key': 'open', 'user-agent': 'Token booth' },
    }),
  },
  {
    name: 'headers of the event itself go to any host',
    config: { webhookUrl: url, headers: [token] },
    event: { ...track, fullPath: 'https://evil.example/', header: { Authorization: 'Bearer of the event' } },
    expected: posted({ endpoint: 'https://evil.example/', headers: { Authorization: 'Bearer of the event' } }),
  },
]

const bodies: DestinationCase[] = [
  {
    name: 'top-level nulls vanish and nested nulls stay',
    config: { webhookUrl: url },
    event: { ...track, groupId: null, properties: { hall: null, rows: [null] } },
    expected: posted({ body: { ...track, properties: { hall: null, rows: [null] } } }),
  },
  {
    name: 'an event without an anonymousId gives the same members',
    config: { webhookUrl: url },
    event: { ...track, anonymousId: 'a-1' },
    expected: posted({ body: { ...track, anonymousId: 'a-1' } }),
  },
  ...([{}, { ip: '' }, { ip: null }] as JsonObject[]).map(
    (context): DestinationCase => ({
      name: `context ${JSON.stringify(context)} gets the address of the request`,
      config: { webhookUrl: url },
      event: { ...track, context },
      expected: posted({ body: { ...track, context: { ip: '203.0.113.9' } } }),
    }),
  ),
  ...[{ ip: '198.51.100.4' }, [], 'web'].map(
    (context): DestinationCase => ({
      name: `context ${JSON.stringify(context)} stays as it is`,
      config: { webhookUrl: url },
      event: { ...track, context },
      expected: posted({ body: { ...track, context } }),
    }),
  ),
  ...[undefined, null, '', 7].map((request_ip): DestinationCase => {
    const { request_ip: _, ...rest } = track
    const event = { ...rest, context: { ip: null }, ...(request_ip === undefined ? {} : { request_ip }) }
    return {
      name: `request_ip ${JSON.stringify(request_ip) ?? 'that is missing'} fills nothing`,
      config: { webhookUrl: url },
      event,
      expected: posted({ body: request_ip === null ? { ...rest, context: { ip: null } } : event }),
    }
  }),
  {
    name: 'a member called __proto__ is a member like others',
    config: { webhookUrl: url },
    event: JSON.parse('{"type":"track","event":"Seat Reserved","groupId":null,"__proto__":{"hall":"B"}}') as JsonObject,
    expected: posted({
      body: JSON.parse('{"type":"track","event":"Seat Reserved","__proto__":{"hall":"B"}}') as JsonObject,
    }),
  },
]

const params: DestinationCase[] = (
  [
    ['nested objects by dots', { seat: { row: { no: 7 } } }, { 'seat.row.no': 7 }],
    [
      'lists by index',
      { seats: [14, [15, 16], { row: 7 }] },
      { 'seats[0]': 14, 'seats[1][0]': 15, 'seats[1][1]': 16, 'seats[2].row': 7 },
    ],
    [
      'leaves of every kind',
      { a: 'x', b: 1.5, c: true, d: false, e: null },
      { a: 'x', b: 1.5, c: true, d: false, e: null },
    ],
    ['empty containers as they are', { a: {}, b: [], c: [{}, []] }, { a: {}, b: [], 'c[0]': {}, 'c[1]': [] }],
    ['nothing of an empty object', {}, {}],
  ] as [string, JsonObject, JsonObject][]
).map(([what, properties, flat]) => ({
  name: `params hold ${what}`,
  config: { webhookUrl: url, webhookMethod: 'GET' },
  event: { ...track, properties },
  expected: asked({ params: flat }),
}))

const paramSources: DestinationCase[] = [
  ...['page', 'screen', 'group', 'alias'].map(
    (type): DestinationCase => ({
      name: `params of a ${type} are its properties, not its traits`,
      config: { webhookUrl: url, webhookMethod: 'DELETE' },
      event: {
        ...stored,
        type,
        properties: { hall: 'B' },
        traits: { plan: 'gold' },
        context: { traits: { plan: 'gold' } },
      },
      expected: asked({ method: 'DELETE', params: { hall: 'B' } }),
    }),
  ),
  {
    name: 'params of an identify are its traits before those of the context',
    config: { webhookUrl: url, webhookMethod: 'GET' },
    event: { ...identify, traits: { plan: 'gold' }, context: { traits: { plan: 'blue' } }, properties: { hall: 'B' } },
    expected: asked({ params: { plan: 'gold' } }),
  },
  {
    name: 'params of an identify whose traits are null are those of the context',
    config: { webhookUrl: url, webhookMethod: 'GET' },
    event: { ...identify, traits: null, context: { traits: { plan: 'blue' } } },
    expected: asked({ params: { plan: 'blue' } }),
  },
  {
    name: 'an identify without traits has no params',
    config: { webhookUrl: url, webhookMethod: 'GET' },
    event: { ...identify, properties: { hall: 'B' } },
    expected: asked({ params: {} }),
  },
  {
    name: 'a track without properties has no params',
    config: { webhookUrl: url, webhookMethod: 'GET' },
    event: { ...track, properties: null, traits: { plan: 'gold' } },
    expected: asked({ params: {} }),
  },
]

const messageTypes: DestinationCase[] = [
  ...['identify', 'track', 'page', 'screen', 'group', 'alias'].map(
    (type): DestinationCase => ({
      name: `a message of type ${type} is sent`,
      config: { webhookUrl: url },
      event: { ...stored, type },
      expected: posted({ body: { ...stored, type } }),
    }),
  ),
  ...['merge', 'Track', 'constructor'].map(
    (type): DestinationCase => ({
      name: `a message of type ${type} is not supported`,
      config: { webhookUrl: url },
      event: { ...stored, type },
      expected: { error: `message type ${type} not supported` },
    }),
  ),
]

const oauth = {
  authType: 'oauth2',
  oauthTokenUrl: 'https://login.cinema.example/oauth/token',
  oauthClientId: 'millrace',
  oauthClientSecret: 'kT2exampleSecret',
}

const accessTokens: DestinationCase[] = [
  {
    name: 'an access token goes before the authorization of configuration and event',
    config: { webhookUrl: url, headers: [token, desk], ...oauth },
    event: { ...track, header: { Authorization: 'mine' } },
    expected: posted({ headers: { 'x-desk': '3', authorization: TOKEN_HEADER } }),
  },
  {
    name: 'the member secret decides what is masked of a token parameter',
    config: { webhookUrl: url, ...oauth, oauthParams: [{ from: 'api_key', to: 'public-value', secret: false }] },
    event: track,
    expected: posted({ headers: { authorization: TOKEN_HEADER } }),
  },
  {
    name: 'an address from an event gets no access token',
    config: { webhookUrl: url, ...oauth },
    event: { ...track, fullPath: 'https://seats.cinema.example/in' },
    expected: posted({ endpoint: 'https://seats.cinema.example/in' }),
  },
  {
    name: 'an allowed host gets it',
    config: { webhookUrl: url, ...oauth, allowedHosts: ['seats.cinema.example'] },
    event: { ...track, fullPath: 'https://seats.cinema.example/in' },
    expected: posted({ endpoint: 'https://seats.cinema.example/in', headers: { authorization: TOKEN_HEADER } }),
  },
]

/** Shown by the connection alone; the tests of delivery make real ones. */
const certificates: DestinationCase[] = [
  {
    name: 'a certificate with an encrypted key, and an authority of the server',
    config: { webhookUrl: url, tlsCertificate: 'PEM', tlsKey: 'PEM', tlsKeyPassphrase: 'opensesame', tlsCa: 'PEM' },
    event: track,
    expected: posted({}),
  },
]

/** A configured address, what `integrations` says of this destination, and the address and secrets that follow. */
const integrationPaths = (
  [
    ['appendPath goes behind the path', url, { appendPath: '/profiles' }, `${url}/profiles`, true],
    ['fullPath replaces the path', url, { fullPath: '/in/v2' }, 'https://hooks.cinema.example/in/v2', true],
    ['both together', url, { fullPath: '/in', appendPath: '/a' }, 'https://hooks.cinema.example/in/a', true],
    ['another path gets no secrets', url, { fullPath: '/other' }, 'https://hooks.cinema.example/other', false],
    ['a sibling of the path is another path', url, { appendPath: '-b' }, 'https://hooks.cinema.example/in-b', false],
    ['dots lead up without secrets', url, { appendPath: '/../x' }, 'https://hooks.cinema.example/in/../x', false],
    ['encoded dots, too', url, { appendPath: '/%2e%2e/x' }, 'https://hooks.cinema.example/in/%2e%2e/x', false],
    ['an encoded slash, too', url, { appendPath: '/a%2fb' }, 'https://hooks.cinema.example/in/a%2fb', false],
    ['a path without a slash gets one', url, { fullPath: 'other' }, 'https://hooks.cinema.example/other', false],
    [
      'no text lengthens the host',
      'https://hooks.cinema.example',
      { appendPath: '.evil.example' },
      'https://hooks.cinema.example/.evil.example',
      true,
    ],
    [
      'no text becomes a user or a port',
      'https://hooks.cinema.example',
      { appendPath: ':80@evil.example/' },
      'https://hooks.cinema.example/:80@evil.example/',
      true,
    ],
    ['appendPath with two slashes stays on the host', url, { appendPath: '//x' }, `${url}//x`, true],
    ['its query goes behind the query', `${url}?a=1`, { appendPath: '/b?c=2' }, `${url}/b?a=1&c=2`, true],
    ['a query alone is appended', `${url}?a=1`, { appendPath: '?c=2' }, `${url}?a=1&c=2`, true],
    ['fullPath replaces the query', `${url}?a=1`, { fullPath: '/in?b=2' }, `${url}?b=2`, true],
    ['a fragment is left out', url, { appendPath: '/b#c' }, `${url}/b`, true],
    [
      'elsewhere it goes without user and query of the address',
      'https://ada:pw@hooks.cinema.example/in?key=k',
      { appendPath: '/../x' },
      'https://hooks.cinema.example/in/../x',
      false,
    ],
    [
      'below the path it keeps both',
      'https://ada:pw@hooks.cinema.example/in?key=k',
      { appendPath: '/x' },
      'https://ada:pw@hooks.cinema.example/in/x?key=k',
      true,
    ],
    ['texts alone count', url, { fullPath: 7, appendPath: '' }, url, true],
  ] as const
).map(([name, webhookUrl, options, endpoint, hasSecrets]): DestinationCase => {
  const event = { ...track, integrations: { Webhook: options } }
  const headers = hasSecrets ? { authorization: 'Bearer 7Hq2', 'x-desk': '3' } : { 'x-desk': '3' }
  return {
    name: `integrations: ${name}`,
    config: { webhookUrl, headers: [token, desk] },
    event,
    expected: posted({ endpoint, headers, body: event }),
  }
})

const integrationErrors = [
  'https://evil.example/',
  '//evil.example/',
  '\\\\evil.example',
  '/\\evil.example',
  'javascript:x',
].map(
  (fullPath): DestinationCase => ({
    name: `integrations: fullPath ${fullPath} is refused`,
    config: { webhookUrl: url },
    event: { ...track, integrations: { Webhook: { fullPath } } },
    expected: { error: 'integrations fullPath must be a path: it cannot change the host' },
  }),
)

export const cases: DestinationCase[] = [
  ...documentedCases,
  ...accessTokens,
  ...integrationPaths,
  ...integrationErrors,
  ...certificates,
  ...addresses,
  ...methods,
  ...headers,
  ...secrets,
  ...secretRules,
  ...bodies,
  ...params,
  ...paramSources,
  ...messageTypes,
]
