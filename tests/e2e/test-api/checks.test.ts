import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { DevEnv } from '@millrace/dev-env'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ALL, ApiTester, MESSAGE, NO_ID, SEND, TRANSFORM } from './tester.ts'

/*
 * Who is let in, what is refused and in which order (contracts/test-api.md §1–3, §8, §14 lines 12–14).
 */

const EMAIL = 'ada@cinema.example'
let env: DevEnv
let api: ApiTester
let enabled: string
let disabled: string
let sourceId: string
/** Of Ada, an editor. */
let token: string

beforeAll(async () => {
  env = await DevEnv.open({ settings: { MILLRACE_MAX_BODY_KB: '64' } })
  api = new ApiTester(env)
  const webhook = await env.webhook()
  sourceId = webhook.source.id
  enabled = webhook.destinationId
  disabled = (await env.webhook()).destinationId
  await env.api('PATCH', `/v2/destinations/${disabled}`, { enabled: false })
  token = (await env.api('POST', '/v2/users', { email: EMAIL, role: 'editor' })).json.token
})
afterAll(() => env?.[Symbol.asyncDispose]())

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
const valid = { stage: {}, message: MESSAGE }
const essence = ({ status, text }: { status: number; text: string }) => [status, text]
const message = (text: string) => JSON.stringify({ message: text })

describe('credentials', () => {
  test.each([
    ['e-mail and token', () => basic(`${EMAIL}:${token}`)],
    ['an e-mail in other letter case', () => basic(`ADA@Cinema.Example:${token}`)],
    ['the token alone', () => basic(`:${token}`)],
    ['a Bearer token', () => `Bearer ${token}`],
    ['a scheme in lower case', () => `bearer ${token}`],
  ])('%s are accepted', async (_, authorization) => {
    const headers = { Authorization: authorization() }
    expect((await api.destination(enabled, valid, '', headers)).status).toBe(200)
    expect((await env.request('/destination-definitions', { headers })).status).toBe(200)
  })

  test.each([
    ['no header', () => undefined],
    ['an empty one', () => ''],
    ['an unknown scheme', () => `Digest ${token}`],
    ['bad base64', () => 'Basic ***'],
    ['base64 without a colon', () => basic(token)],
    ["another user's e-mail", () => basic(`owner@localhost:${token}`)],
    ['the token as user name', () => basic(`${token}:`)],
    ['an unknown token', () => basic(`${EMAIL}:mr_pat_${'x'.repeat(40)}`)],
    ['a write key', () => basic('3PS3MKgFh6ZTxDaxUjKBsLaUg1r:')],
  ])('%s is answered 401 with the exact body', async (_, authorization) => {
    const given = authorization()
    const init = { headers: given === undefined ? {} : { Authorization: given } }
    for (const answer of [
      await env.request(`/v0/testDestination/${enabled}`, { ...init, method: 'POST' }),
      await env.request(`/v0/testSource/${sourceId}`, { ...init, method: 'POST', body: JSON.stringify(valid) }),
      await env.request('/destination-definitions', init),
      await env.request('/destination-definitions/WEBHOOK', init),
    ]) {
      expect(essence(answer)).toEqual([401, message('Invalid Authorization Header')])
      expect(answer.headers.get('www-authenticate')).toBe('Basic')
    }
  })

  test('a token that is revoked or expired is refused from the next request on', async () => {
    const made = (await env.api('POST', '/v2/access-tokens', { name: 'ci', role: 'editor' })).json
    const headers = { Authorization: `Bearer ${made.token}` }
    expect((await api.destination(enabled, valid, '', headers)).status).toBe(200)
    await env.api('DELETE', `/v2/access-tokens/${made.accessToken.id}`)
    expect((await api.destination(enabled, valid, '', headers)).status).toBe(401)
  })
})

describe('roles', () => {
  test('a viewer may look at stages, but neither send nor override', async () => {
    const viewer = await api.as('viewer')
    const stage = { user_transform: true, dest_transform: true }
    expect((await api.destination(enabled, { stage, message: MESSAGE }, '', viewer)).status).toBe(200)
    expect((await api.source(sourceId, { stage, message: MESSAGE }, '', viewer)).status).toBe(200)
    for (const answer of [
      await api.destination(enabled, { stage: SEND, message: MESSAGE }, '', viewer),
      await api.destination(enabled, { stage, message: MESSAGE, destinationConfig: {} }, '', viewer),
      await api.source(sourceId, { stage: ALL, message: MESSAGE }, '', viewer),
    ]) {
      expect(essence(answer)).toEqual([403, message('Forbidden')])
    }
    expect(env.sink.received).toEqual([])
  })
})

describe('paths and methods', () => {
  test.each([
    ['POST', '/v0'],
    ['POST', '/v0/'],
    ['POST', '/v0/testdestination/x'],
    ['POST', '/v0/testDestination'],
    ['POST', '/v0/testDestination/'],
    ['POST', '/v0/testDestination/x/y'],
    ['GET', '/v0/destination-definitions'],
    ['GET', '/v0/%zz'],
    ['GET', '/destination-definitions/WEBHOOK/x'],
  ])('%s %s is not found, without credentials', async (method, path) => {
    expect(essence(await env.request(path, { method }))).toEqual([404, message('Not Found')])
  })

  test.each([
    ['GET', '/v0/testDestination/x', 'POST'],
    ['HEAD', '/v0/testSource/x', 'POST'],
    ['PUT', '/v0/testSource/x?force=true', 'POST'],
    ['OPTIONS', '/v0/testDestination/x', 'POST'],
    ['POST', '/destination-definitions', 'GET, HEAD'],
    ['DELETE', '/destination-definitions/WEBHOOK', 'GET, HEAD'],
  ])('%s %s is not allowed, without credentials', async (method, path, allow) => {
    const answer = await env.request(path, { method })
    expect(essence(answer)).toEqual([405, method === 'HEAD' ? '' : message('Method Not Allowed')])
    expect(answer.headers.get('allow')).toBe(allow)
  })

  test('a slash at the end and a Content-Type make no difference', async () => {
    const headers = { 'Content-Type': 'text/plain' }
    expect((await api.post(`/v0/testDestination/${enabled}/`, valid, headers)).status).toBe(200)
    expect((await api.destination(enabled, valid, '', { 'Content-Type': 'nonsense' })).status).toBe(200)
  })
})

test.each<[string, unknown, number, string]>([
  ['an empty body', '', 400, 'Invalid JSON'],
  ['a list', '[]', 400, 'Invalid JSON'],
  ['half an object', '{"stage":', 400, 'Invalid JSON'],
  ['bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 400, 'Invalid JSON'],
  ['200 levels', deep(200), 200, ''],
  ['201 levels', deep(201), 400, 'Invalid JSON'],
  ['no stage', { message: MESSAGE }, 400, 'stage is missing or invalid'],
  ['stage null', { message: MESSAGE, stage: null }, 400, 'stage is missing or invalid'],
  ['stage a list', { message: MESSAGE, stage: [] }, 400, 'stage is missing or invalid'],
  [
    'a flag as text',
    { message: MESSAGE, stage: { send_to_destination: 'yes' } },
    400,
    'stage.send_to_destination must be a boolean',
  ],
  [
    'a flag as number',
    { message: MESSAGE, stage: { user_transform: 1 } },
    400,
    'stage.user_transform must be a boolean',
  ],
  [
    'a flag as text true',
    { message: MESSAGE, stage: { dest_transform: 'true' } },
    400,
    'stage.dest_transform must be a boolean',
  ],
  ['flags null', { message: MESSAGE, stage: { dest_transform: null } }, 200, ''],
  ['other members', { ...valid, colour: 'blue', stage: { colour: 1 } }, 200, ''],
  ['no message', { stage: {} }, 400, 'message type missing or invalid'],
  ['no message and no stage', {}, 400, 'message type missing or invalid'],
  ['message as text', { stage: 7, message: 'track' }, 400, 'message type missing or invalid'],
  ['message as list', { stage: {}, message: [MESSAGE] }, 400, 'message type missing or invalid'],
  ['type a number', { stage: {}, message: { type: 7 } }, 400, 'message type missing or invalid'],
  ['type null', { stage: {}, message: { type: null } }, 400, 'message type missing or invalid'],
  ['type Track', { stage: {}, message: { type: 'Track' } }, 400, 'message type is unsupported'],
  ['type merge', { stage: {}, message: { type: 'merge' } }, 400, 'message type is unsupported'],
  ['an empty type', { stage: {}, message: { type: '' } }, 400, 'message type is unsupported'],
  ['an override as list', { ...valid, destinationConfig: [] }, 400, 'destinationConfig must be an object'],
  ['an override as text', { ...valid, destinationConfig: 'x' }, 400, 'destinationConfig must be an object'],
  ['an override null', { ...valid, destinationConfig: null }, 400, 'destinationConfig must be an object'],
])('%s is answered as the contract says', async (_, body, status, text) => {
  const answer = await api.destination(enabled, body)
  expect(answer.status).toBe(status)
  if (status !== 200) expect(answer.text).toBe(message(text))
})

test('without any flag the result is empty', async () => {
  expect((await api.destination(enabled, valid)).json.data).toEqual([{}])
})

test.each(['identify', 'track', 'page', 'screen', 'group', 'alias'])('a message of type %s is taken', async (type) => {
  expect((await api.destination(enabled, { stage: TRANSFORM, message: { type } })).json.data).toMatchObject([
    { dest_transformed_payload: [{ body: { JSON: { type } } }] },
  ])
})

test('what destinationConfig says wrongly shows as the result of the stage', async () => {
  const answer = await api.destination(enabled, {
    stage: TRANSFORM,
    message: MESSAGE,
    destinationConfig: { webhookUrl: '' },
  })
  expect(answer.json.data).toEqual([{ dest_transformed_payload: { error: 'Invalid URL in destination config' } }])
})

test('an address of the metadata service is refused when it is sent to', async () => {
  const destinationConfig = { webhookUrl: 'http://169.254.169.254/' }
  const answer = await api.destination(enabled, { stage: SEND, message: MESSAGE, destinationConfig })
  const text = '403: access to private IPs is blocked; allow it with MILLRACE_EGRESS_ALLOW'
  expect(answer.json.data).toEqual([
    {
      destination_response: [{ success: false, error: { message: text, id: null } }],
      destination_response_status: [403],
    },
  ])
})

test('unknown ids are told, also of what was deleted', async () => {
  const bad = { stage: 7, message: 7 }
  expect(essence(await api.destination(NO_ID, bad))).toEqual([404, message(`Destination with id ${NO_ID} not found`)])
  expect(essence(await api.source(NO_ID, bad))).toEqual([404, message(`Source with id ${NO_ID} not found`)])
  expect((await api.destination(sourceId, valid)).status).toBe(404)
  const { destinationId } = await env.webhook()
  await env.api('DELETE', `/v2/destinations/${destinationId}?cascade=true`)
  expect((await api.destination(destinationId, valid)).status).toBe(404)
})

describe('of several faults the first in the order of checks is told', () => {
  const huge = { ...valid, filler: 'x'.repeat(65 * 1024) }
  const noType = { message: {}, stage: 7, destinationConfig: 7 }
  const badOverride = { message: MESSAGE, stage: 7, destinationConfig: 7 }
  test.each<[string, () => Promise<{ status: number; text: string }>, number, string]>([
    ['path before credentials', () => api.post('/v0/x', '', { Authorization: '' }), 404, 'Not Found'],
    [
      'credentials before size',
      () => api.destination(enabled, huge, '', { Authorization: 'x' }),
      401,
      'Invalid Authorization Header',
    ],
    [
      'size before JSON',
      () => api.destination(enabled, `{${'x'.repeat(65 * 1024)}`),
      413,
      'Request size exceeds max limit',
    ],
    [
      'encoding before JSON',
      () => api.destination(enabled, '{', '', { 'Content-Encoding': 'zstd' }),
      415,
      'Unsupported content encoding',
    ],
    ['JSON before id', () => api.destination(NO_ID, '{'), 400, 'Invalid JSON'],
    ['id before message', () => api.destination(NO_ID, noType), 404, `Destination with id ${NO_ID} not found`],
    ['message before override', () => api.destination(enabled, noType), 400, 'message type missing or invalid'],
    [
      'override before disabled',
      () => api.destination(disabled, badOverride),
      400,
      'destinationConfig must be an object',
    ],
    ['override before stage', () => api.destination(enabled, badOverride), 400, 'destinationConfig must be an object'],
    [
      'stage before role',
      async () => api.destination(enabled, { ...valid, stage: 7, destinationConfig: {} }, '', await api.as('viewer')),
      400,
      'stage is missing or invalid',
    ],
    ['message before override of a source', () => api.source(sourceId, noType), 400, 'message type missing or invalid'],
    [
      'override before stage of a source',
      () => api.source(sourceId, { ...valid, stage: 7, destinationConfig: {} }),
      400,
      'destinationConfig is not supported by testSource',
    ],
  ])('%s', async (_, call, status, text) => {
    expect(essence(await call())).toEqual([status, message(text)])
  })

  test('disabled before stage and role', async () => {
    // As bytes, because /openapi.json says of the body what it is to be.
    const body = Buffer.from(JSON.stringify({ message: MESSAGE, stage: 7, destinationConfig: {} }))
    const answer = await api.destination(disabled, body, '', await api.as('viewer'))
    expect(answer).toMatchObject({ status: 200, json: { error: `Destination with id ${disabled} is disabled` } })
  })
})

describe('encodings', () => {
  const body = Buffer.from(JSON.stringify({ stage: TRANSFORM, message: MESSAGE }))
  test.each<[string, Buffer]>([
    ['identity', body],
    ['gzip', gzipSync(body)],
    ['br', brotliCompressSync(body)],
    ['deflate', deflateSync(body)],
    ['Deflate', deflateRawSync(body)],
  ])('%s is taken', async (encoding, packed) => {
    const { json } = await api.destination(enabled, packed, '', { 'Content-Encoding': encoding })
    expect(json.data[0].dest_transformed_payload[0].body.JSON).toEqual(MESSAGE)
  })

  test('a body that unpacks to more than the limit is refused', async () => {
    const bomb = gzipSync(Buffer.alloc(1024 * 1024, 0x20))
    expect((await api.destination(enabled, bomb, '', { 'Content-Encoding': 'gzip' })).status).toBe(413)
  })

  test('a body that does not unpack is no JSON', async () => {
    const answer = await api.destination(enabled, 'no gzip', '', { 'Content-Encoding': 'gzip' })
    expect(essence(answer)).toEqual([400, message('Invalid JSON')])
  })
})

/** A valid request nested in so many levels, itself the first. */
function deep(levels: number): string {
  const nested = '['.repeat(levels - 1) + ']'.repeat(levels - 1)
  return JSON.stringify(valid).replace(/\}$/, `,"filler":${nested}}`)
}
