import { once } from 'node:events'
import { createServer } from 'node:net'
import { DevEnv, Sink } from '@millrace/dev-env'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ALL, ApiTester, MESSAGE, SEND, TRANSFORM } from './tester.ts'

/*
 * What a test may reach, what it shows when no answer comes, and that nothing of it stays (contracts/test-api.md §6, §9,
 * §10, §13, §14 lines 8, 9, 19, 22–24, 26, 27).
 */

const BLOCKED = '403: access to private IPs is blocked; allow it with MILLRACE_EGRESS_ALLOW'
const CALL_TIMEOUT_MS = 300

let env: DevEnv
let bystander: Sink
let api: ApiTester

beforeAll(async () => {
  env = await DevEnv.open({ settings: { MILLRACE_HTTP_TIMEOUT_MS: String(CALL_TIMEOUT_MS) } })
  bystander = await Sink.open()
  api = new ApiTester(env)
})
afterAll(async () => {
  await bystander?.[Symbol.asyncDispose]()
  await env?.[Symbol.asyncDispose]()
})
beforeEach(() => {
  env.sink.clear()
  env.sink.answer = () => ({})
})

const failed = (status: number, message: string) => ({
  destination_response: [{ success: false, error: { message, id: null } }],
  destination_response_status: [status],
})

/** What sending to an address shows that is saved. */
async function sentTo(webhookUrl: string) {
  const { destinationId } = await env.webhook({ config: { webhookUrl } })
  return api.stages(destinationId, SEND)
}

describe('without an answer, status and text are ours', () => {
  test('connection refused', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    server.close()
    expect(await sentTo(`http://127.0.0.1:${port}/`)).toEqual(failed(500, '[ECONNREFUSED] :: Connection refused'))
  })

  test('connection reset', async () => {
    env.sink.answer = () => 'reset'
    expect(await sentTo(env.sink.url)).toEqual(failed(500, '[ECONNRESET] :: Connection reset by peer'))
    expect(env.sink.received).toHaveLength(1)
  })

  test('no answer in time', async () => {
    env.sink.answer = () => new Promise(() => {})
    expect(await sentTo(env.sink.url)).toEqual(failed(500, '[ETIMEDOUT] :: Operation timed out'))
    expect(env.sink.received).toHaveLength(1)
  })

  test.each([
    ['no address', 'hooks', '[ERR_INVALID_URL] :: Invalid URL'],
    ['another scheme', 'ftp://hooks.cinema.example/', '[ERR_INVALID_PROTOCOL] :: only http and https are supported'],
  ])('%s', async (_, webhookUrl, text) => {
    expect(await sentTo(webhookUrl)).toEqual(failed(400, text))
  })

  test('TLS where there is none', async () => {
    const { destination_response_status, destination_response } = await sentTo(`https://127.0.0.1:${env.sink.port}/`)
    expect(destination_response_status).toEqual([400])
    expect(destination_response[0].error.message).toMatch(/^\[[A-Z_]+\] :: .+/)
  })

  test('the same as live traffic shows', async () => {
    const { source, destinationId } = await env.webhook({ config: { webhookUrl: 'ftp://hooks.cinema.example/' } })
    await env.send('/v1/track', { event: 'x', userId: 'u', messageId: 'm-ftp' }, source.writeKey)
    const { requests } = await env.journey('m-ftp', 'dead_lettered')
    const { status, text } = requests[0]!.attempts[0]!
    expect(await api.stages(destinationId, SEND)).toEqual(failed(status, text))
  })
})

describe('addresses', () => {
  const refused = [
    'http://127.0.0.1:<port>/',
    'http://localhost:<port>/',
    'http://0x7f.1:<port>/',
    'http://2130706433:<port>/',
    'http://[::ffff:127.0.0.1]:<port>/',
    'http://[::1]:<port>/',
    'http://10.0.0.1/',
    'http://172.16.0.1/',
    'http://192.168.0.1/',
    'http://169.254.169.254/latest/meta-data',
    'http://[fe80::1]/',
    'http://[fd00::1]/',
    'http://0.0.0.0:<port>/',
  ]

  let destinationId: string
  beforeAll(async () => {
    destinationId = (await env.webhook()).destinationId
  })

  test.each(refused)('an override cannot reach %s', async (address) => {
    const webhookUrl = address.replace('<port>', String(bystander.port))
    const shown = await api.stages(destinationId, SEND, MESSAGE, { destinationConfig: { webhookUrl } })
    expect(shown).toEqual(failed(403, BLOCKED))
    expect(bystander.received).toEqual([])
  })

  test.each(refused.slice(0, 5))('a message cannot reach %s', async (address) => {
    const message = { ...MESSAGE, fullPath: address.replace('<port>', String(bystander.port)) }
    expect(await api.stages(destinationId, SEND, message)).toEqual(failed(403, BLOCKED))
    expect(bystander.received).toEqual([])
  })

  test('a redirect cannot reach what is not configured, and is followed where it may', async () => {
    const { destinationId } = await env.webhook({ config: { webhookUrl: `${env.sink.url}/a` } })
    env.sink.answer = ({ path }) =>
      path === '/a'
        ? { status: 307, headers: { location: '/b' } }
        : { status: 308, headers: { location: bystander.url } }
    expect(await api.stages(destinationId, SEND)).toEqual(failed(403, BLOCKED))
    expect(env.sink.received).toMatchObject([{ path: '/a' }, { path: '/b', method: 'POST', json: MESSAGE }])
    expect(bystander.received).toEqual([])
  })

  test('an entry of the allow list opens an address', async () => {
    const settings = { MILLRACE_EGRESS_ALLOW: `127.0.0.1:${bystander.port}` }
    await using open = await DevEnv.open({ settings })
    const { destinationId } = await open.webhook()
    const shown = await new ApiTester(open).stages(destinationId, SEND, MESSAGE, {
      destinationConfig: { webhookUrl: bystander.url },
    })
    expect(shown.destination_response_status).toEqual([200])
    bystander.clear()
  })
})

test('a message sent live and the same one tested give the same request', async () => {
  const headers = { Authorization: 'Bearer canary-of-parity-01', 'X-Desk': '3' }
  const { source, destinationId } = await env.webhook({ config: { headers, webhookMethod: 'PUT' } })
  const event = {
    ...MESSAGE,
    messageId: 'm-parity',
    context: { traits: { plan: null } },
    header: { 'X-Trace': 'abc' },
    appendPath: '/p',
  }
  await env.send('/v1/track', event, source.writeKey)
  await env.journey('m-parity', 'delivered')
  const [live] = env.sink.received
  const shown = await api.stages(destinationId, ALL, { ...event, ...live!.json })
  const tested = env.sink.received[1]!
  expect([tested.method, tested.path, tested.json]).toEqual([live!.method, live!.path, live!.json])
  expect({ ...tested.headers, 'user-agent': '' }).toEqual({ ...live!.headers, 'user-agent': '' })
  expect(shown.dest_transformed_payload[0].body.JSON).toEqual(live!.json)
})

describe('a test', () => {
  test('leaves events, counts, dead letters and the state of the destination as they are', async () => {
    const { source, destinationId } = await env.webhook()
    env.sink.answer = () => ({ status: 500 })
    const look = async () => {
      const paths = ['/v2/dead-letters', `/v2/destinations/${destinationId}/delivery`]
      const answers = await Promise.all(paths.map((path) => env.api('GET', path)))
      const { revision } = (await env.api('GET', '/v2/config')).json
      const { text } = await env.request('/metrics')
      const counts = text
        .split('\n')
        .filter((line) => /^millrace_(ingest_(re|ev)|delivery|dead|backlog|expired)/.test(line))
      return [...answers.map(({ json }) => json), revision, counts]
    }
    const before = await look()
    for (let n = 0; n < 3; n++) {
      await api.stages(destinationId, ALL, { ...MESSAGE, messageId: 'm-tested' })
      await api.source(source.id, { stage: ALL, message: { ...MESSAGE, messageId: 'm-tested' } })
    }
    expect(env.sink.received).toHaveLength(6)
    expect(await look()).toEqual(before)
    expect((await env.api('GET', '/v2/events/m-tested')).status).toBe(404)
  })

  test('is told once an hour per token and destination, without its message', async () => {
    const { source, destinationId } = await env.webhook()
    const other = await env.webhook({ source })
    const editor = await api.as('editor')
    const body = { stage: TRANSFORM, message: { ...MESSAGE, event: 'canary event' } }
    for (let n = 0; n < 3; n++) {
      await api.destination(destinationId, body)
      await api.source(source.id, body)
      await api.destination(destinationId, body, '', editor)
    }
    await api.destination(destinationId, { ...body, stage: 7 })
    const { json, text } = await env.api('GET', '/v2/audit-log?kind=destination&limit=500')
    const told = json.entries.filter(({ action }: { action: string }) => action === 'test')
    const essence = told.map((entry: { actor: string; resourceId: string; outcome: string }) => [
      entry.actor,
      entry.resourceId,
      entry.outcome,
    ])
    expect(essence.filter(([, id]: string[]) => id === destinationId || id === other.destinationId).sort()).toEqual(
      [
        ['owner@localhost', destinationId, 'ok'],
        ['owner@localhost', other.destinationId, 'ok'],
        ['editor@cinema.example', destinationId, 'ok'],
      ].sort(),
    )
    expect(text).not.toContain('canary event')
  })
})

test('above the rate of a token it is refused with the headers that say when to come back', async () => {
  await using slow = await DevEnv.open({ settings: { MILLRACE_TEST_API_RPM: '3' } })
  const tester = new ApiTester(slow)
  const { destinationId } = await slow.webhook()
  const call = () => tester.destination(destinationId, { stage: {}, message: MESSAGE })
  const definitions = () =>
    slow.request('/destination-definitions', { headers: { Authorization: `Bearer ${slow.token}` } })
  const first = await call()
  expect([first.status, first.headers.get('ratelimit-limit'), first.headers.get('ratelimit-remaining')]).toEqual([
    200,
    '3',
    '2',
  ])
  expect([(await call()).status, (await definitions()).status]).toEqual([200, 200])
  for (const refused of [await call(), await definitions()]) {
    expect([refused.status, refused.json]).toEqual([429, { message: 'Max Requests Limit reached' }])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.headers.get('ratelimit-remaining')).toBe('0')
    expect(refused.headers.get('ratelimit-reset')).toMatch(/^\d+$/)
  }
  // Others have an allowance of their own.
  expect(
    (await tester.destination(destinationId, { stage: {}, message: MESSAGE }, '', await tester.as('viewer'))).status,
  ).toBe(200)
})

describe('destination definitions', () => {
  const get = (path: string, on = env) => on.request(path, { headers: { Authorization: `Bearer ${on.token}` } })

  test('have a top-level defaultConfig each, and that of a webhook is the three names', async () => {
    const { status, json } = await get('/destination-definitions?colour=blue')
    expect(status).toBe(200)
    for (const definition of json) {
      expect(definition.defaultConfig.length).toBeGreaterThan(0)
      expect(definition.config.destConfig.defaultConfig).toEqual(definition.defaultConfig)
    }
    const webhook = json.find(({ name }: { name: string }) => name === 'WEBHOOK')
    expect(webhook).toEqual({
      id: '3Z9L6wfMBPRNmAYA9ws16Wv6fts',
      name: 'WEBHOOK',
      displayName: 'Webhook',
      category: 'webhooks',
      kind: 'cloud',
      defaultConfig: ['webhookUrl', 'webhookMethod', 'headers'],
      config: {
        destConfig: { defaultConfig: ['webhookUrl', 'webhookMethod', 'headers'] },
        secretKeys: [
          'headers.to',
          'signingSecret',
          'oauthClientSecret',
          'oauthParams.to',
          'tlsKey',
          'tlsKeyPassphrase',
        ],
        supportedMessageTypes: { cloud: ['identify', 'track', 'page', 'screen', 'group', 'alias'] },
        supportedConnectionModes: { cordova: ['cloud'], web: ['cloud'], cloud: ['cloud'] },
        supportedSourceTypes: ['cordova', 'web', 'cloud'],
      },
    })
  })

  test('have all that is needed to save a configuration when it is asked for, and one alone always', async () => {
    const list = (await get('/destination-definitions?include=x,schema')).json
    const one = (await get('/destination-definitions/WEBHOOK')).json
    expect(list).toContainEqual(one)
    expect(Object.keys(one)).toEqual(
      expect.arrayContaining(['configSchema', 'uiConfig', 'options', 'createdAt', 'updatedAt']),
    )
    expect(Object.keys(one.config)).toEqual(
      expect.arrayContaining(['extraConfig', 'commonConfig', 'hostKeys', 'publicKeys']),
    )
  })

  test.each(['webhook', 'NONE', 'constructor', '__proto__'])('there is none named %s', async (name) => {
    const { status, json } = await get(`/destination-definitions/${name}`)
    expect([status, json]).toEqual([404, { message: `Destination definition ${name} not found` }])
  })

  test('ask for credentials, unless the setting opens them', async () => {
    expect((await env.request('/destination-definitions')).status).toBe(401)
    await using open = await DevEnv.open({ settings: { MILLRACE_OPEN_DEFINITIONS: 'true' } })
    for (const headers of [{}, { Authorization: 'Bearer wrong' }]) {
      expect((await open.request('/destination-definitions', { headers })).json[0].name).toBeDefined()
      expect((await open.request('/destination-definitions/WEBHOOK', { headers })).json.name).toBe('WEBHOOK')
    }
    const { destinationId } = await open.webhook()
    expect((await open.request(`/v0/testDestination/${destinationId}`, { method: 'POST' })).status).toBe(401)
  })
})
