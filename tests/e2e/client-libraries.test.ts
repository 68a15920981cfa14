import { DevEnv, type Received, type Webhook } from '@millrace/dev-env'
import RudderAnalytics from '@rudderstack/rudder-sdk-node'
import { Analytics as Analytics2 } from 'analytics-node-2'
import { Analytics as Analytics3 } from 'analytics-node-3'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

/*
 * Client libraries that others wrote, unchanged, against the whole product. analytics-node 2 and 3 send the write key in
 * the body only (contracts/ingest.md §2, §12 item 29); what arrives is what contracts/destinations.md §5 says.
 */

let env: DevEnv
let webhook: Webhook

beforeAll(async () => {
  env = await DevEnv.open()
  webhook = await env.webhook({ config: { headers: [{ from: 'X-Desk', to: '3' }] } })
})
afterAll(() => env?.[Symbol.asyncDispose]())
beforeEach(() => env.sink.clear())

interface Client {
  identify(message: object): void
  track(message: object): void
  page(message: object): void
  screen(message: object): void
  group(message: object): void
  alias(message: object): void
  end(): Promise<unknown>
}

describe.each([
  ['@segment/analytics-node 2.3.0', () => segment(Analytics2), '2.3.0'],
  ['@segment/analytics-node 3.1.0', () => segment(Analytics3), '3.1.0'],
  ['@rudderstack/rudder-sdk-node 3.0.13', rudder, '3.0.13'],
] as const)('%s', (_name, open, version) => {
  test('every kind of event arrives at the webhook as it was sent', async () => {
    const client = open()
    const timestamp = new Date('2026-03-04T09:15:27.120Z')
    const all = { userId: 'u-88', context: { locale: 'de-DE' }, integrations: { All: true }, timestamp }
    client.identify({ ...all, traits: { plan: 'gold', seats: [14, 15] } })
    client.track({ ...all, event: 'Seat Reserved', properties: { hall: 'B', price: 18.5 } })
    client.page({ ...all, name: 'Seats', properties: { path: '/seats' } })
    client.screen({ ...all, name: 'Programme', properties: { day: 'Friday' } })
    client.group({ ...all, groupId: 'g-7', traits: { name: 'Friends of film' } })
    client.alias({ ...all, previousId: 'u-77' })
    await client.end()

    const requests = await env.sink.waitFor(6)
    expect(requests.map(({ json }) => json.type)).toEqual(['identify', 'track', 'page', 'screen', 'group', 'alias'])
    for (const request of requests) expectWebhookRequest(request, version)
    const [identify, track, page, screen, group, alias] = requests.map(({ json }) => json)
    expect(identify.traits ?? identify.context.traits).toEqual({ plan: 'gold', seats: [14, 15] })
    expect(track).toMatchObject({ event: 'Seat Reserved', properties: { hall: 'B', price: 18.5 } })
    expect(page).toMatchObject({ name: 'Seats', properties: { path: '/seats' } })
    expect(screen).toMatchObject({ name: 'Programme', properties: { day: 'Friday' } })
    expect(group).toMatchObject({ groupId: 'g-7', traits: { name: 'Friends of film' } })
    expect(alias).toMatchObject({ previousId: 'u-77' })
  })

  test('an anonymous event without a messageId of its own arrives with one, and keeps it in the trace', async () => {
    const client = open()
    client.track({ anonymousId: 'a-5', event: 'Opened' })
    await client.end()
    const [request] = await env.sink.waitFor(1)
    const { messageId, anonymousId } = request!.json
    expect(anonymousId).toBe('a-5')
    const trace = await env.api('GET', `/v2/events/${encodeURIComponent(messageId)}`)
    expect(trace.json.events).toMatchObject([{ messageId, sourceId: webhook.source.id, event: { event: 'Opened' } }])
  })
})

test('with a key that nobody has, nothing is stored and the library says that it failed', async () => {
  const client = new Analytics3({ writeKey: 'nosuchkey', host: env.url, maxRetries: 0 })
  const failed = new Promise<string>((resolve) => client.on('error', ({ code }) => resolve(code)))
  client.track({ userId: 'u-88', event: 'Lost' })
  await client.closeAndFlush()
  expect(await failed).toBe('delivery_failure')
  expect(env.sink.received).toEqual([])
})

function expectWebhookRequest({ method, path, headers, json }: Received, version: string) {
  expect([method, path]).toEqual(['POST', '/hook'])
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-desk': '3' })
  expect(headers['user-agent']).toMatch(/^Millrace\/\d/)
  expect(json).toMatchObject({
    userId: 'u-88',
    messageId: expect.stringMatching(/./),
    context: { locale: 'de-DE', ip: '127.0.0.1', library: { version } },
    request_ip: '127.0.0.1',
    receivedAt: expect.stringMatching(TIME),
    sentAt: expect.stringMatching(TIME),
    originalTimestamp: expect.stringMatching(TIME),
    timestamp: expect.stringMatching(TIME),
  })
  expect(json).not.toHaveProperty('writeKey')
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

function segment(Analytics: typeof Analytics2 | typeof Analytics3): Client {
  const client = new Analytics({ writeKey: webhook.source.writeKey, host: env.url, maxRetries: 0 })
  return Object.assign(client, { end: () => client.closeAndFlush() }) as unknown as Client
}

function rudder(): Client {
  const client = new RudderAnalytics(webhook.source.writeKey, { dataPlaneUrl: env.url, gzip: true })
  return Object.assign(client, { end: () => client.flush() }) as unknown as Client
}
