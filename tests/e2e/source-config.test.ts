import { type ApiAnswer, DevEnv, type Webhook } from '@millrace/dev-env'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/* GET /sourceConfig: contracts/ingest.md §8, §12 items 22 and 23; contracts/destinations.md §9 item 16. */

const PUBLIC_URL = 'https://events.cinema.example'
const SECRETS = ['canary-header-value', 'canary-signing-secret', 'canary-url-password', 'canary-user']

let env: DevEnv
let webhook: Webhook

beforeAll(async () => {
  env = await DevEnv.open({ settings: { MILLRACE_PUBLIC_URL: PUBLIC_URL } })
  const source = await env.source({ name: 'Cinema app', type: 'Cordova' })
  webhook = await env.webhook({
    source,
    name: 'Booking hook',
    config: {
      webhookUrl: `http://canary-user:canary-url-password@127.0.0.1:${env.sink.port}/in`,
      headers: [{ from: 'Authorization', to: 'Bearer canary-header-value' }],
      signingSecret: 'canary-signing-secret',
      connectionMode: { cordova: 'cloud', web: 'cloud' },
      eventFilteringOption: 'whitelistedEvents',
      whitelistedEvents: [{ eventName: 'Seat Reserved' }],
      blacklistedEvents: [],
    },
  })
})
afterAll(() => env?.[Symbol.asyncDispose]())

describe('the answer', () => {
  test('is the whole object of the contract', async () => {
    const { source, destinationId, connectionId } = webhook
    const { status, json } = await getConfig()
    expect(status).toBe(200)
    expect(json).toEqual({
      isHosted: true,
      source: {
        id: source.id,
        name: 'Cinema app',
        writeKey: source.writeKey,
        enabled: true,
        workspaceId: expect.stringMatching(ID),
        updatedAt: expect.stringMatching(TIME),
        config: { statsCollection: { errors: { enabled: false }, metrics: { enabled: false } } },
        dataplanes: { US: [{ url: PUBLIC_URL, default: true }] },
        sourceDefinition: { name: 'Cordova', displayName: 'Cordova' },
        connections: [{ id: connectionId, sourceId: source.id, destinationId, enabled: true }],
        destinations: [
          {
            id: destinationId,
            name: 'Booking hook',
            enabled: true,
            updatedAt: expect.stringMatching(TIME),
            config: {
              connectionMode: { cordova: 'cloud' },
              eventFilteringOption: 'whitelistedEvents',
              whitelistedEvents: [{ eventName: 'Seat Reserved' }],
              blacklistedEvents: [],
            },
            destinationDefinition: { name: 'WEBHOOK', displayName: 'Webhook', updatedAt: expect.stringMatching(TIME) },
            shouldApplyDeviceModeTransformation: false,
            propagateEventsUntransformedOnError: false,
          },
        ],
      },
    })
  })

  test('holds no secret and no address of a destination', async () => {
    const { text } = await getConfig()
    for (const secret of [...SECRETS, '127.0.0.1', 'webhookUrl', 'headers', '********'])
      expect(text).not.toContain(secret)
  })

  test('is the same by key in the query, with any other members beside it', async () => {
    const byHeader = await getConfig()
    const query = new URLSearchParams({ writeKey: webhook.source.writeKey, p: 'cordova', v: '1.2.0', bv: '3' })
    const byQuery = await env.request(`/sourceConfig?${query}`)
    expect([byQuery.status, byQuery.text]).toEqual([200, byHeader.text])
    expect((await env.request(`/sourceConfig/?${query}`)).text).toBe(byHeader.text)
  })

  test('HEAD has its headers and no body', async () => {
    const [get, head] = [await getConfig(), await getConfig({ method: 'HEAD' })]
    expect([head.status, head.text]).toEqual([200, ''])
    expect(head.headers.get('etag')).toBe(get.headers.get('etag'))
  })

  test('may be read by pages of any origin, also when it is a refusal', async () => {
    for (const writeKey of [webhook.source.writeKey, 'nosuchkey']) {
      const { headers } = await getConfig({ headers: { Origin: 'app://localhost' } }, writeKey)
      expect(headers.get('access-control-allow-origin')).toBe('app://localhost')
      expect(headers.get('access-control-allow-credentials')).toBe('true')
      expect(headers.get('vary')).toBe('Origin')
    }
    const preflight = await env.request('/sourceConfig', {
      method: 'OPTIONS',
      headers: { Origin: 'null', 'Access-Control-Request-Method': 'GET' },
    })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, 'null'])
  })
})

describe('the tag', () => {
  test('gives 304 without a body until the configuration changes, and then at once the new answer', async () => {
    const first = await getConfig()
    const etag = first.headers.get('etag')!
    expect(etag).toMatch(/^"[^"]{16,}"$/)
    expect(first.headers.get('cache-control')).toBe('no-cache')

    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const same = await getConfig({ headers: { 'If-None-Match': tag } })
      expect([tag, same.status, same.text, same.headers.get('etag')]).toEqual([tag, 304, '', etag])
    }
    expect((await getConfig({ headers: { 'If-None-Match': '"other"' } })).status).toBe(200)

    await patch(`destinations/${webhook.destinationId}`, { name: 'Desk hook' })
    const changed = await getConfig({ headers: { 'If-None-Match': etag } })
    expect([changed.status, changed.json.source.destinations[0].name]).toEqual([200, 'Desk hook'])
  })
})

describe('a change shows on the next request', () => {
  test('disabling the source: it says so, and the next event is refused', async () => {
    await patch(`sources/${webhook.source.id}`, { enabled: false })
    expect((await getConfig()).json.source.enabled).toBe(false)
    const refused = await env.send('/v1/track', { userId: 'u' }, webhook.source.writeKey)
    expect([refused.status, refused.text]).toEqual([404, 'Source is disabled'])

    await patch(`sources/${webhook.source.id}`, { enabled: true })
    expect((await getConfig()).json.source.enabled).toBe(true)
    expect((await env.send('/v1/track', { userId: 'u' }, webhook.source.writeKey)).status).toBe(200)
  })

  test('disabling destination and connection', async () => {
    await patch(`destinations/${webhook.destinationId}`, { enabled: false })
    await patch(`connections/${webhook.connectionId}`, { enabled: false })
    const { source } = (await getConfig()).json
    expect([source.destinations[0].enabled, source.connections[0].enabled]).toEqual([false, false])
  })
})

describe('refusals are JSON with status 400', () => {
  test.each([
    ['no key', {}, '', 'Failed to read writeKey from header'],
    ['an empty key', {}, '?writeKey=', 'Failed to read writeKey from header'],
    ['two keys', {}, '?writeKey=a&writeKey=b', 'Failed to read writeKey from header'],
    ['another scheme', { Authorization: 'Bearer abc' }, '', 'Failed to read writeKey from header'],
    ['no base64', { Authorization: 'Basic %%%' }, '', 'Failed to read writeKey from header'],
    ['an unknown key', { Authorization: 'Basic bm9zdWNoa2V5Og==' }, '', 'Invalid Write Key'],
    ['an unknown key in the query', {}, '?writeKey=nosuchkey', 'Invalid Write Key'],
    ['an unknown key and a tag', { 'If-None-Match': '*' }, '?writeKey=nosuchkey', 'Invalid Write Key'],
  ])('%s', async (_what, headers, query, message) => {
    const answer = await env.request(`/sourceConfig${query}`, { headers })
    expect([answer.status, answer.json]).toEqual([400, { message }])
  })
})

test('without MILLRACE_PUBLIC_URL a client keeps the address that it was given', async () => {
  await using plain = await DevEnv.open()
  const { writeKey } = await plain.source()
  const { json } = await plain.request(`/sourceConfig?writeKey=${writeKey}`)
  expect(json.source).not.toHaveProperty('dataplanes')
})

test.each([
  ['Javascript', 0],
  ['Pixel', 0],
  ['Cordova', 1],
  ['Node', 1],
])('a source of type %s shows %i of its destinations: pages would look for code of the others', async (type, shown) => {
  const { source } = await env.webhook({ source: await env.source({ type }) })
  const { json } = await env.request(`/sourceConfig?writeKey=${source.writeKey}`)
  expect([json.source.destinations.length, json.source.connections.length]).toEqual([shown, 1])
})

const ID = /^[0-9A-Za-z]{27}$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

function getConfig(init: RequestInit = {}, writeKey = webhook.source.writeKey): Promise<ApiAnswer> {
  const headers = { Authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}`, ...init.headers }
  return env.request('/sourceConfig', { ...init, headers })
}

async function patch(path: string, fields: object): Promise<void> {
  expect((await env.api('PATCH', `/v2/${path}`, fields)).status).toBe(200)
}
