import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { EgressRules, HostNames, OAuthTokens, OutboundClient } from '@millrace/delivery'
import { DestinationRegistry, overriddenConfig } from '@millrace/destinations'
import type { JsonObject } from '@millrace/protocol'
import { systemClock } from '@millrace/std'
import { afterEach, expect, test } from 'vitest'
import { testConnection } from './connection-test.ts'
import { testDestination } from './runs/run.ts'
import type { TestRun } from './runs/test-run.ts'
import { TimeLimit } from './runs/time-limit.ts'

const endings: (() => unknown)[] = []
afterEach(() => Promise.all(endings.splice(0).map((end) => end())))

const SECRET = 'kT2exampleSecret'
const TOKEN = 'q7RexampleTokenOne'
const names = new HostNames({ clock: systemClock })

/** A token endpoint at `/token`, and a destination that repeats what it gets. */
async function setUp() {
  const received: IncomingHttpHeaders[] = []
  const endpoint = { status: 200 }
  const server = createServer((request, response) => {
    request.resume()
    if (request.url === '/token') {
      const body = endpoint.status === 200 ? { access_token: TOKEN } : { error: 'invalid_client' }
      response.writeHead(endpoint.status).end(JSON.stringify(body))
      return
    }
    received.push(request.headers)
    response.end(JSON.stringify({ got: request.headers.authorization }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = new OutboundClient({
    rules: new EgressRules({ allow: undefined, deny: undefined, listenHost: '127.0.0.1' }),
    clock: systemClock,
    lookup: names.forDestination(),
    tokens: new OAuthTokens({ clock: systemClock }),
  })
  endings.push(
    () => server.close(),
    () => server.closeAllConnections(),
    () => client.close(),
  )
  const config: JsonObject = {
    webhookUrl: `${origin}/in`,
    authType: 'oauth2',
    oauthTokenUrl: `${origin}/token`,
    oauthClientId: 'millrace',
    oauthClientSecret: SECRET,
  }
  const registry = await DestinationRegistry.load()
  return { received, endpoint, origin, client, config, registry, module: registry.find('WEBHOOK')! }
}

async function tested({ client, config, registry }: Awaited<ReturnType<typeof setUp>>, override?: JsonObject) {
  using limit = new TimeLimit(systemClock, systemClock.monotonic(), 60_000)
  const run = {
    flags: { user_transform: false, dest_transform: true, send_to_destination: true },
    asked: { include: new Set(), masksSupplied: false, force: false },
    message: { type: 'track', event: 'Seat Reserved', userId: 'u-1' },
    source: undefined,
    override,
    options: { clock: systemClock, version: '1.2.3', destinationTypes: registry },
    tester: { tokenId: 't', role: 'admin', note: () => {} },
    client,
    limit,
  } as unknown as TestRun
  const destination = { id: 'd1', name: 'Seats', workspaceId: 'w', type: 'WEBHOOK', isEnabled: true, config }
  const result = await testDestination(run, { ...destination, transformations: [] })
  return (result as { data: JsonObject[] }).data[0]!
}

test('the token is put in while sending; request and answer show a mask', async () => {
  const parts = await setUp()
  expect(await tested(parts)).toMatchObject({
    dest_transformed_payload: [{ headers: { authorization: 'Bearer ********' } }],
    destination_response: [{ got: 'Bearer ********' }],
    destination_response_status: [200],
  })
  expect(parts.received[0]!.authorization).toBe(`Bearer ${TOKEN}`)
})

test('an override of all secrets still shows no token', async () => {
  const parts = await setUp()
  const shown = await tested(parts, { oauthClientSecret: 'another' })
  expect(shown['destination_response']).toEqual([{ got: 'Bearer ********' }])
})

test('a refusing token endpoint is told, and nothing is sent', async () => {
  const parts = await setUp()
  parts.endpoint.status = 401
  const message = '[EAUTH] :: authorization failed: the token endpoint answered 401 invalid_client'
  expect(await tested(parts)).toMatchObject({
    destination_response: [{ success: false, error: { message, id: null } }],
    destination_response_status: [401],
  })
  expect(parts.received).toEqual([])
})

test('an override that leads the token request elsewhere does not take the saved secret along', async () => {
  const { config, module } = await setUp()
  const elsewhere = { oauthTokenUrl: 'https://evil.example/token' }
  const { config: used, secretsElsewhere } = overriddenConfig(module, config, elsewhere, false)
  expect([used['oauthClientSecret'], secretsElsewhere]).toEqual([undefined, 'withheld'])
})

test('a connection test gets a token first', async () => {
  const { client, config, module, received, endpoint } = await setUp()
  const test = () =>
    testConnection(
      { module, config, saved: { config }, mayCarry: true },
      { sender: client, signal: new AbortController().signal, clock: systemClock, version: '1.2.3' },
    )
  expect(await test()).toMatchObject({ verdict: 'good', text: 'Answered 200.' })
  expect(received[0]!.authorization).toBe(`Bearer ${TOKEN}`)
  endpoint.status = 401
  const another = { ...config, oauthClientSecret: 'another' }
  const refused = await testConnection(
    { module, config: another, saved: { config }, mayCarry: true },
    { sender: client, signal: new AbortController().signal, clock: systemClock, version: '1.2.3' },
  )
  expect(refused).toMatchObject({ verdict: 'bad', text: expect.stringContaining('authorization failed') })
})
