import { DevEnv } from '@millrace/dev-env'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

const SECRET = 'Bearer canary-of-the-hook-0123'

let env: DevEnv
let editor: string

beforeAll(async () => {
  env = await DevEnv.open()
  editor = (await env.api('POST', '/v2/users', { email: 'editor@cinema.example', role: 'editor' })).json.token
})
afterAll(() => env?.[Symbol.asyncDispose]())
beforeEach(() => {
  env.sink.clear()
  env.sink.answer = () => ({})
})

function tried(body: object, token = env.token) {
  const headers = { Authorization: `Bearer ${token}` }
  return env.request('/v2/destinations/test-connection', { method: 'POST', headers, body: JSON.stringify(body) })
}

const headers = [{ from: 'Authorization', to: SECRET }]

test('an address that answers is good; it gets the credentials and no event', async () => {
  const { status, json } = await tried({ type: 'WEBHOOK', config: { webhookUrl: `${env.sink.url}/in`, headers } })
  expect(status).toBe(200)
  expect(json).toEqual({
    tested: true,
    verdict: 'good',
    ok: true,
    text: 'Answered 200.',
    durationMs: expect.any(Number),
  })
  expect(env.sink.received).toMatchObject([{ method: 'HEAD', path: '/in', headers: { authorization: SECRET } }])
  expect(env.sink.received[0]!.headers['user-agent']).toMatch(/^Millrace-Test\//)
})

test.each([
  [204, 'good', 'Answered 204.'],
  [304, 'good', 'Answered 304.'],
  [400, 'doubtful', 'Reached, but it answered 400.'],
  [404, 'doubtful', 'Reached, but it answered 404.'],
  [405, 'doubtful', 'Reached, but it answered 405.'],
  [410, 'doubtful', 'Reached, but it answered 410.'],
  [503, 'bad', 'Answered 503.'],
])('an answer %i is %s', async (status, verdict, text) => {
  env.sink.answer = () => ({ status })
  const { json } = await tried({ type: 'WEBHOOK', config: { webhookUrl: env.sink.url } })
  expect(json).toMatchObject({ tested: true, verdict, ok: verdict === 'good', text })
})

test.each([
  [401, { headers }, 'Credentials refused (401). Check headers.authorization.'],
  [
    403,
    { headers, signingSecret: 'whsec-0123456789abcdef' },
    'Credentials refused (403). Check headers.authorization.',
  ],
  [
    401,
    {},
    'It requires a credential (401), and none was sent. Set it in headers or signingSecret or another secret variable.',
  ],
])('an answer %i to %j says which credential to look at', async (status, config, text) => {
  env.sink.answer = () => ({ status })
  const { json } = await tried({ type: 'WEBHOOK', config: { webhookUrl: env.sink.url, ...config } })
  expect(json).toMatchObject({ tested: true, verdict: 'bad', ok: false, text })
})

test('an address that nobody answers, or that is closed, is told with its reason', async () => {
  const { json } = await tried({ type: 'WEBHOOK', config: { webhookUrl: 'http://127.0.0.1:1/' } })
  expect(json).toMatchObject({ tested: true, ok: false, text: expect.stringContaining('ECONNREFUSED') })
  const { json: closed } = await tried({ type: 'WEBHOOK', config: { webhookUrl: 'http://10.0.0.1/' } })
  expect(closed).toMatchObject({ tested: true, ok: false })
})

test('of a type without a request for it nothing is tested', async () => {
  const config = { webhookUrl: 'https://hooks.slack.com/services/T0/B0/x' }
  const { json } = await tried({ type: 'SLACK', config })
  const text = 'This type has no connection test. Try it with an event in the test bench.'
  expect(json).toEqual({ tested: false, verdict: 'unknown', ok: true, text, durationMs: 0 })
})

test('saved secrets stand for masks, and go to another origin only for an admin', async () => {
  const { destinationId } = await env.webhook({ config: { webhookUrl: `${env.sink.url}/hook`, headers } })
  const masked = [{ from: 'Authorization', to: '********' }]
  const here = { type: 'WEBHOOK', destinationId, config: { webhookUrl: `${env.sink.url}/other`, headers: masked } }
  expect((await tried(here, editor)).json.ok).toBe(true)
  expect(env.sink.received[0]!.headers).toMatchObject({ authorization: SECRET })

  const other = await DevEnv.open()
  try {
    const address = other.sink.url
    const config = { webhookUrl: address, headers: masked }
    // Loopback is open to configured addresses alone: nothing arrives, whoever asks.
    expect((await tried({ type: 'WEBHOOK', destinationId, config }, editor)).json.ok).toBe(false)
    expect(other.sink.received).toEqual([])
  } finally {
    await other[Symbol.asyncDispose]()
  }
})

test('what is wrong is refused as a destination would be', async () => {
  const { destinationId } = await env.webhook()
  const definitions = (await env.api('GET', '/destination-definitions')).json as { name: string }[]
  // Of the catalog the list of definitions tells.
  const names = definitions.map(({ name }) => name).filter((name) => !name.startsWith('CATALOG_'))
  const refusals: [object, number, string][] = [
    [{ config: {} }, 400, 'type is required'],
    [{ type: 'NONE', config: {} }, 400, `Unknown destination type NONE; known are ${names.toSorted().join(', ')}`],
    [{ type: 'WEBHOOK' }, 400, 'config must be an object'],
    [{ type: 'WEBHOOK', config: {}, colour: 1 }, 400, 'Unknown member: colour'],
    [{ type: 'WEBHOOK', config: { webhookMethod: 'POST' } }, 422, 'Invalid config'],
    [{ type: 'WEBHOOK', config: {}, destinationId: 'x' }, 404, 'Destination with id x not found'],
    [{ type: 'SLACK', config: {}, destinationId }, 404, `Destination with id ${destinationId} not found`],
  ]
  for (const [body, status, error] of refusals) {
    const answer = await tried(body)
    expect([body, answer.status, answer.json.error]).toEqual([body, status, error])
  }
})

test('the audit log tells who tried what', async () => {
  const { destinationId } = await env.webhook()
  await tried({ type: 'WEBHOOK', config: {}, destinationId }, editor)
  const { entries } = (await env.api('GET', '/v2/audit-log?kind=destination&limit=1')).json
  expect(entries).toMatchObject([
    { action: 'test', actor: 'editor@cinema.example', resourceId: destinationId, diff: [] },
  ])
})
