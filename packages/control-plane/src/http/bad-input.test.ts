import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { type Sent, TestPlane } from '../testing/test-plane.ts'

const NO_ID = '3iidO0kXIpgrmam9JhPLS2gpoVe'
const SOURCE = { name: 'Cinema app', type: 'Cordova' }
const HOOK = { name: 'Hook', type: 'WEBHOOK', config: { webhookUrl: 'https://hooks.cinema.example/in' } }
const LONG = 'n'.repeat(201)

interface Case extends Sent {
  /** `POST /v2/sources`; `<source>` and alike stand for ids of what there is. */
  readonly send: string
  readonly expect: [status: number, error: string, details?: object]
}

/** contracts/control-plane.md §8, row by row. */
const CASES: Record<string, Case> = {
  'no credentials': { send: 'GET /v2/sources', token: null, expect: [401, 'Invalid Authorization Header'] },
  'unknown credentials': {
    send: 'POST /v2/sources',
    token: 'x',
    body: '!',
    expect: [401, 'Invalid Authorization Header'],
  },
  'unknown source': { send: `GET /v2/sources/${NO_ID}`, expect: [404, `Source with id ${NO_ID} not found`] },
  'PUT to an unknown source': {
    send: `PUT /v2/sources/${NO_ID}`,
    body: {},
    expect: [404, `Source with id ${NO_ID} not found`],
  },
  'unknown destination': { send: 'DELETE /v2/destinations/x', expect: [404, 'Destination with id x not found'] },
  'unknown connection': { send: 'PATCH /v2/connections/x', body: {}, expect: [404, 'Connection with id x not found'] },
  'unknown access token': { send: 'DELETE /v2/access-tokens/x', expect: [404, 'Access token with id x not found'] },
  'unknown path': { send: 'GET /v2/colours', expect: [404, 'Not Found'] },
  'unknown path without credentials': { send: 'POST /v2/colours', token: null, body: '!', expect: [404, 'Not Found'] },
  'the prefix alone': { send: 'GET /v2', expect: [404, 'Not Found'] },
  'a slash at the end': { send: 'GET /v2/sources/', expect: [404, 'Not Found'] },
  'a path in other letters': { send: 'GET /v2/Sources', expect: [404, 'Not Found'] },
  'a path that cannot be read': { send: 'GET /v2/sources/%zz', expect: [404, 'Not Found'] },
  'an overlong id': { send: `GET /v2/sources/${'x'.repeat(5_000)}`, expect: [404, 'Not Found'] },
  'no body': { send: 'POST /v2/sources', expect: [400, 'Invalid JSON'] },
  'not JSON': { send: 'POST /v2/sources', body: '{"name":', expect: [400, 'Invalid JSON'] },
  'a list': { send: 'PUT /v2/sources/<source>', body: '[]', expect: [400, 'Invalid JSON'] },
  null: { send: 'PATCH /v2/sources/<source>', body: 'null', expect: [400, 'Invalid JSON'] },
  'not UTF-8': { send: 'POST /v2/sources', body: Buffer.from([0x7b, 0xff, 0x7d]), expect: [400, 'Invalid JSON'] },
  'nested too deep': {
    send: 'POST /v2/destinations',
    body: `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`,
    expect: [400, 'Invalid JSON'],
  },
  'not gzip': {
    send: 'POST /v2/sources',
    body: '{}',
    headers: { 'content-encoding': 'gzip' },
    expect: [400, 'Invalid JSON'],
  },
  'unknown encoding': {
    send: 'POST /v2/sources',
    body: '{}',
    headers: { 'content-encoding': 'zstd' },
    expect: [415, 'Unsupported content encoding'],
  },
  'over 1 MB': {
    send: 'POST /v2/sources',
    body: ' '.repeat(1_048_577),
    expect: [413, 'Request size exceeds max limit'],
  },
  'over 1 MB when unpacked': {
    send: 'POST /v2/sources',
    body: gzipSync(' '.repeat(1_048_577)),
    headers: { 'content-encoding': 'gzip' },
    expect: [413, 'Request size exceeds max limit'],
  },
  'name missing': { send: 'POST /v2/sources', body: { type: 'HTTP' }, expect: [400, 'name is required'] },
  'name missing in PUT': {
    send: 'PUT /v2/sources/<source>',
    body: { type: 'Cordova' },
    expect: [400, 'name is required'],
  },
  'name empty': { send: 'PATCH /v2/destinations/<destination>', body: { name: '' }, expect: [400, 'name is required'] },
  'name blank': { send: 'POST /v2/destinations', body: { ...HOOK, name: ' ' }, expect: [400, 'name is required'] },
  'name too long': { send: 'POST /v2/sources', body: { ...SOURCE, name: LONG }, expect: [400, 'name is too long'] },
  'destination name too long': {
    send: 'POST /v2/destinations',
    body: { ...HOOK, name: LONG },
    expect: [400, 'name is too long'],
  },
  'token name missing': { send: 'POST /v2/access-tokens', body: { role: 'admin' }, expect: [400, 'name is required'] },
  'type missing': { send: 'POST /v2/sources', body: { name: 'n' }, expect: [400, 'type is required'] },
  'unknown source type': {
    send: 'POST /v2/sources',
    body: { ...SOURCE, type: 'cordova' },
    expect: [
      400,
      'Unknown source type cordova; known are Cordova, Javascript, Android, iOS, ReactNative, Flutter, Node, Python, Go, Java, Ruby, PHP, DotNet, Kotlin, Swift, Rust, Unity, AMP, Shopify, HTTP, Pixel, Webhook',
    ],
  },
  'unknown destination type': {
    send: 'POST /v2/destinations',
    body: { ...HOOK, type: 'Webhook' },
    expect: [400, 'Unknown destination type Webhook; known are CLOUD_ONLY, WEBHOOK'],
  },
  'destination type from the prototype': {
    send: 'POST /v2/destinations',
    body: { ...HOOK, type: 'constructor' },
    expect: [400, 'Unknown destination type constructor; known are CLOUD_ONLY, WEBHOOK'],
  },
  'another type': {
    send: 'PATCH /v2/sources/<source>',
    body: { type: 'HTTP' },
    expect: [400, 'type cannot be changed'],
  },
  'enabled is a text': {
    send: 'POST /v2/sources',
    body: { ...SOURCE, enabled: 'yes' },
    expect: [400, 'enabled must be a boolean'],
  },
  'enabled is null': {
    send: 'PATCH /v2/destinations/<destination>',
    body: { enabled: null },
    expect: [400, 'enabled must be a boolean'],
  },
  'enabled of a connection': {
    send: 'PATCH /v2/connections/<connection>',
    body: { enabled: 1 },
    expect: [400, 'enabled must be a boolean'],
  },
  'unknown member': {
    send: 'POST /v2/sources',
    body: { ...SOURCE, colour: 'red' },
    expect: [400, 'Unknown member: colour'],
  },
  'unknown member in an envelope': {
    send: 'PATCH /v2/sources/<source>',
    body: { source: { colour: 'red' } },
    expect: [400, 'Unknown member: colour'],
  },
  'unknown members of a connection': {
    send: 'PATCH /v2/connections/<connection>',
    body: { key: 'k', size: 1 },
    expect: [400, 'Unknown member: key, size'],
  },
  '__proto__ is a member like others': {
    send: 'POST /v2/sources',
    body: '{"name":"n","type":"HTTP","__proto__":{"x":1}}',
    expect: [400, 'Unknown member: __proto__'],
  },
  'config breaks the schema': {
    send: 'POST /v2/destinations',
    body: { ...HOOK, config: {} },
    expect: [422, 'Invalid config', { path: '/webhookUrl', message: 'is required' }],
  },
  'config left out in PUT': {
    send: 'PUT /v2/destinations/<destination>',
    body: { name: 'n' },
    expect: [422, 'Invalid config', { path: '/webhookUrl', message: 'is required' }],
  },
  'config is a text': {
    send: 'POST /v2/destinations',
    body: { ...HOOK, config: 'x' },
    expect: [422, 'Invalid config', { path: '', message: 'must be an object' }],
  },
  'mask without a saved value': {
    send: 'POST /v2/destinations',
    body: { ...HOOK, config: { ...HOOK.config, signingSecret: '********' } },
    expect: [422, 'Invalid config', { path: '/signingSecret', message: 'has no saved value' }],
  },
  orderShards: {
    send: 'POST /v2/sources',
    body: { ...SOURCE, config: { orderShards: 65 } },
    expect: [422, 'Invalid config', { path: '/orderShards', message: 'must be an integer from 1 to 64' }],
  },
  'a dedup window out of range': {
    send: 'POST /v2/sources',
    body: { ...SOURCE, config: { dedupWindowSeconds: 86_401 } },
    expect: [422, 'Invalid config', { path: '/dedupWindowSeconds', message: 'must be an integer from 0 to 86400' }],
  },
  'a negative rate': {
    send: 'PATCH /v2/sources/<source>',
    body: { config: { rateLimitEventsPerMinute: -1 } },
    expect: [
      422,
      'Invalid config',
      { path: '/rateLimitEventsPerMinute', message: 'must be an integer from 0 to 1000000000' },
    ],
  },
  catalog: {
    send: 'POST /v2/sources',
    body: { ...SOURCE, config: { catalog: { samples: 'some' } } },
    expect: [422, 'Invalid config', { path: '/catalog/samples', message: 'must be "full" or "masked" or "off"' }],
  },
  'unknown member of a source config': {
    send: 'POST /v2/sources',
    body: { ...SOURCE, config: { colour: 1 } },
    expect: [422, 'Invalid config', { path: '/colour', message: 'is not known' }],
  },
  'settings of a webhook, for another type': {
    send: 'POST /v2/sources',
    body: { ...SOURCE, config: { webhook: {} } },
    expect: [422, 'Invalid config', { path: '/webhook', message: 'is for sources of type Webhook and Shopify alone' }],
  },
  'a path that is none': {
    send: 'POST /v2/sources',
    body: { ...SOURCE, type: 'Webhook', config: { webhook: { userIdPath: 'data..id' } } },
    expect: [422, 'Invalid config', { path: '/webhook/userIdPath', message: 'must be names joined by dots' }],
  },
  'a path that is too long': {
    send: 'POST /v2/sources',
    body: { ...SOURCE, type: 'Webhook', config: { webhook: { eventPath: 'x'.repeat(201) } } },
    expect: [422, 'Invalid config', { path: '/webhook/eventPath', message: 'must have at most 200 characters' }],
  },
  'a signature without a secret': {
    send: 'POST /v2/sources',
    body: { ...SOURCE, type: 'Webhook', config: { webhook: { signature: 'github' } } },
    expect: [422, 'Invalid config', { path: '/webhook/secretCredential', message: 'is required for a signature' }],
  },
  'concurrency 0': {
    send: 'POST /v2/destinations',
    body: { ...HOOK, delivery: { concurrency: 0 } },
    expect: [422, 'Invalid config', { path: '/delivery/concurrency', message: 'must be an integer from 1 to 1000' }],
  },
  'unknown ordering': {
    send: 'POST /v2/destinations',
    body: { ...HOOK, delivery: { ordering: 'loose' } },
    expect: [422, 'Invalid config', { path: '/delivery/ordering', message: 'must be "strict" or "none"' }],
  },
  'half a throttle': {
    send: 'POST /v2/destinations',
    body: { ...HOOK, delivery: { throttle: { limit: 4 } } },
    expect: [422, 'Invalid config', { path: '/delivery/throttle/windowSeconds', message: 'is required' }],
  },
  'delivery is null': {
    send: 'PATCH /v2/destinations/<destination>',
    body: { delivery: null },
    expect: [422, 'Invalid config', { path: '/delivery', message: 'must be an object' }],
  },
  'unknown transformation': {
    send: 'POST /v2/destinations',
    body: { ...HOOK, transformationIds: [NO_ID] },
    expect: [422, `Transformation with id ${NO_ID} not found`],
  },
  'transformations that are no list': {
    send: 'PATCH /v2/destinations/<destination>',
    body: { transformationIds: 'x' },
    expect: [400, 'transformationIds must be a list of ids'],
  },
  'too many transformations': {
    send: 'PATCH /v2/destinations/<destination>',
    body: { transformationIds: Array(11).fill('x') },
    expect: [422, 'Too many transformations'],
  },
  'connection without a source': {
    send: 'POST /v2/connections',
    body: { destinationId: '<destination>' },
    expect: [400, 'sourceId is required'],
  },
  'connection of an unknown source': {
    send: 'POST /v2/connections',
    body: { sourceId: 'x', destinationId: '<destination>' },
    expect: [422, 'Source with id x not found'],
  },
  'connection to an unknown destination': {
    send: 'POST /v2/connections',
    body: { sourceId: '<source>', destinationId: 'y' },
    expect: [422, 'Destination with id y not found'],
  },
  'unsupported source type': {
    send: 'POST /v2/connections',
    body: { sourceId: '<source>', destinationId: '<cloud-only>' },
    expect: [422, 'Destination type CLOUD_ONLY does not support source type cordova'],
  },
  'the same connection twice': {
    send: 'POST /v2/connections',
    body: { sourceId: '<source>', destinationId: '<destination>' },
    expect: [409, 'Connection already exists'],
  },
  'write key in use': {
    send: 'POST /v2/sources',
    body: { ...SOURCE, writeKey: '<key>' },
    expect: [409, 'writeKey is already in use'],
  },
  'write key too short': {
    send: 'POST /v2/sources',
    body: { ...SOURCE, writeKey: 'short' },
    expect: [400, 'writeKey must have 20 to 64 characters 0-9, A-Z, a-z'],
  },
  'grace too long': {
    send: 'POST /v2/sources/<source>/rotate-write-key',
    body: { graceHours: 721 },
    expect: [400, 'graceHours must be an integer from 0 to 720'],
  },
  'source with connections': {
    send: 'DELETE /v2/sources/<source>',
    expect: [409, 'Still connected', { connectionIds: ['<connection>'] }],
  },
  'destination with connections': {
    send: 'DELETE /v2/destinations/<destination>?discard=true',
    expect: [409, 'Still connected', { connectionIds: ['<connection>'] }],
  },
  'cascade is not true': {
    send: 'DELETE /v2/destinations/<destination>?cascade=yes',
    expect: [409, 'Still connected', { connectionIds: ['<connection>'] }],
  },
  'If-Match with an old ETag': {
    send: 'PATCH /v2/sources/<source>',
    body: { name: 'n' },
    headers: { 'if-match': '"0"' },
    expect: [412, 'Resource has changed'],
  },
  'DELETE with an old ETag': {
    send: 'DELETE /v2/connections/<connection>',
    headers: { 'if-match': '"0", "x"' },
    expect: [412, 'Resource has changed'],
  },
  'expiry in the past': {
    send: 'POST /v2/access-tokens',
    body: { name: 'ci', role: 'viewer', expiresAt: '2020-01-01T00:00:00Z' },
    expect: [400, 'expiresAt must be in the future'],
  },
  'expiry is no time': {
    send: 'POST /v2/access-tokens',
    body: { name: 'ci', role: 'viewer', expiresAt: 'soon' },
    expect: [400, 'expiresAt must be a time'],
  },
  'unknown role': {
    send: 'POST /v2/access-tokens',
    body: { name: 'ci', role: 'boss' },
    expect: [400, 'Unknown role boss'],
  },
  'limit 0': { send: 'GET /v2/sources?limit=0', expect: [400, 'Invalid limit'] },
  'limit 501': { send: 'GET /v2/access-tokens?limit=501', expect: [400, 'Invalid limit'] },
  'page x': { send: 'GET /v2/connections?page=x', expect: [400, 'Invalid page'] },
}

const CODES: Record<number, string> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  412: 'precondition_failed',
  413: 'too_large',
  415: 'unsupported_encoding',
  422: 'invalid_config',
}

test('every row of the bad-input table has its status, text and shape, and changes nothing', async () => {
  await using plane = await TestPlane.open()
  const source = await plane.source()
  const destination = await plane.destination()
  const cloudOnly = await plane.destination({ type: 'CLOUD_ONLY' })
  const connection = await plane.connection(source.id, destination.id)
  const names: Record<string, string> = {
    '<source>': source.id,
    '<destination>': destination.id,
    '<cloud-only>': cloudOnly.id,
    '<connection>': connection.id,
    '<key>': source.writeKey,
  }
  const named = <T>(value: T): T =>
    value === undefined || Buffer.isBuffer(value)
      ? value
      : JSON.parse(JSON.stringify(value).replace(/<[a-z-]+>/g, (name) => names[name] ?? name))
  const { revision } = plane.plane.snapshot()

  for (const [title, { send, expect: wanted, ...sent }] of Object.entries(CASES)) {
    const [method, path] = named(send).split(' ') as [string, string]
    const answer = await plane.send(method, path, { ...sent, body: named(sent.body) })
    const [status, error, details = null] = named(wanted)
    expect.soft({ status: answer.status, body: answer.body }, title).toEqual({
      status,
      body: { error, code: CODES[status], details },
    })
    expect.soft(answer.headers['content-type'], title).toBe('application/json; charset=utf-8')
    expect.soft(answer.headers['x-request-id'], title).toMatch(/^[0-9a-f-]{36}$/)
    expect.soft(answer.headers['www-authenticate'], title).toBe(status === 401 ? 'Bearer' : undefined)
  }
  expect(plane.plane.snapshot().revision).toBe(revision)
  expect(plane.logged).toEqual([])
})

test('events that wait keep a source, destination or connection from being deleted', async () => {
  await using plane = await TestPlane.open()
  const source = await plane.source()
  const destination = await plane.destination()
  const connection = await plane.connection(source.id, destination.id)
  plane.deliveries.waitingEvents = 12
  const waiting = { error: 'Events are waiting', code: 'conflict', details: { waiting: 12 } }
  for (const path of [
    `/v2/sources/${source.id}?cascade=true`,
    `/v2/destinations/${destination.id}?cascade=true`,
    `/v2/connections/${connection.id}`,
  ]) {
    expect(await plane.send('DELETE', path)).toMatchObject({ status: 409, body: waiting })
  }
  // Both hold; the connections come first.
  expect((await plane.send('DELETE', `/v2/sources/${source.id}`)).body.error).toBe('Still connected')
})

test.each([
  ['/v2/sources', 'GET, HEAD, POST'],
  ['/v2/sources/x', 'GET, HEAD, PUT, PATCH, DELETE'],
  ['/v2/sources/x/rotate-write-key', 'POST'],
  ['/v2/destinations', 'GET, HEAD, POST'],
  ['/v2/destinations/x', 'GET, HEAD, PUT, PATCH, DELETE'],
  ['/v2/connections', 'GET, HEAD, POST'],
  ['/v2/connections/x', 'GET, HEAD, PUT, PATCH, DELETE'],
  ['/v2/transformations', 'GET, HEAD, POST'],
  ['/v2/transformations/x', 'GET, HEAD, PUT, DELETE'],
  ['/v2/transformations/x/versions', 'GET, HEAD'],
  ['/v2/transformations/x/versions/y', 'GET, HEAD'],
  ['/v2/transformations/x/versions/y/publish', 'POST'],
  ['/v2/transformations/x/tests', 'GET, HEAD, PUT'],
  ['/v2/transformations/x/tests/run', 'POST'],
  ['/v2/transformations/x/logs', 'GET, HEAD'],
  ['/v2/transformation-templates', 'GET, HEAD'],
  ['/v2/libraries', 'GET, HEAD, POST'],
  ['/v2/libraries/x', 'GET, HEAD, PUT, DELETE'],
  ['/v2/libraries/x/versions/y/publish', 'POST'],
  ['/v2/access-tokens', 'GET, HEAD, POST'],
  ['/v2/access-tokens/x', 'DELETE'],
  ['/v2/me', 'GET, HEAD'],
  ['/v2/credentials', 'GET, HEAD'],
  ['/v2/credentials/x', 'PUT, DELETE'],
  ['/v2/users', 'GET, HEAD, POST'],
  ['/v2/users/x', 'GET, HEAD, PATCH, DELETE'],
  ['/v2/audit-log', 'GET, HEAD'],
  ['/v2/admin/info', 'GET, HEAD'],
])('%s refuses other methods than %s, to anybody', async (path, allow) => {
  await using plane = await TestPlane.open()
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']
  for (const method of methods.filter((each) => !allow.split(', ').includes(each))) {
    const answer = await plane.send(method, path, { token: null })
    expect(answer.status, method).toBe(405)
    expect(answer.headers['allow']).toBe(allow)
    if (method !== 'HEAD') {
      expect(answer.body).toEqual({ error: 'Method Not Allowed', code: 'method_not_allowed', details: null })
    }
  }
})

test('checks go in the order of the contract: what is wrong first is told first', async () => {
  await using plane = await TestPlane.open({ apiRequestsPerMinute: 6 })
  const viewer = await plane.token('viewer')
  const large = ' '.repeat(1_048_577)
  const encoded = { 'content-encoding': 'zstd' }
  const send = async (token: string, path: string, body: string, headers = {}) =>
    (await plane.send('PUT', path, { token, body, headers })).status
  expect(await send('nobody', '/v2/nowhere', large, encoded)).toBe(404)
  expect(await send('nobody', '/v2/sources', large, encoded)).toBe(405)
  expect(await send('nobody', '/v2/sources/x', large, encoded)).toBe(401)
  expect(await send(viewer, '/v2/sources/x', large, encoded)).toBe(413)
  expect(await send(viewer, '/v2/sources/x', '!', encoded)).toBe(415)
  expect(await send(viewer, '/v2/sources/x', '!')).toBe(400)
  expect(await send(viewer, '/v2/sources/x', '{"colour":1}')).toBe(403)
  const editor = await plane.token('editor')
  expect(await send(editor, '/v2/sources/x', '{"colour":1}')).toBe(404)
  const { id } = await plane.source()
  expect(
    (await plane.send('PUT', `/v2/sources/${id}`, { body: { colour: 1 }, headers: { 'if-match': '"0"' } })).status,
  ).toBe(400)
  for (let n = 0; n < 6; n++) await send(viewer, '/v2/sources/x', '!')
  expect(await send(viewer, '/v2/sources/x', large, encoded)).toBe(429)
})

test('storage that cannot be written is 503, and nothing is changed', async () => {
  await using plane = await TestPlane.open()
  const source = await plane.source()
  const { DatabaseSync } = await import('node:sqlite')
  {
    using other = new DatabaseSync(plane.file)
    other.exec('BEGIN IMMEDIATE')
    const refused = await plane.send('PATCH', `/v2/sources/${source.id}`, { body: { enabled: false } })
    expect(refused).toMatchObject({
      status: 503,
      body: { error: 'Service unavailable', code: 'unavailable', details: null },
    })
  }
  expect(plane.plane.sources.get(source.id).isEnabled).toBe(true)
  await plane.ok('PATCH', `/v2/sources/${source.id}`, { enabled: false })
  await plane.reopen()
  expect(plane.plane.sources.get(source.id).isEnabled).toBe(false)
})
