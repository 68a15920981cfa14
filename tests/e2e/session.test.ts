import { type ApiAnswer, DevEnv } from '@millrace/dev-env'
import { afterAll, beforeAll, expect, test } from 'vitest'

/* Where a session of the dashboard counts, and that nothing opens the browser's own password window (dashboard.md §4 N2). */

const TESTED = JSON.stringify({ stage: { user_transform: true }, message: { type: 'track', event: 'x' } })

let env: DevEnv
let destinationId: string
let writeKey: string
let halves: { Cookie: string; 'X-Millrace-Session': string }

beforeAll(async () => {
  env = await DevEnv.open()
  const made = await env.webhook()
  destinationId = made.destinationId
  writeKey = made.source.writeKey
  const credentials = { email: 'owner@localhost', token: env.token }
  const { headers, json } = await env.request('/v2/session', { method: 'POST', body: JSON.stringify(credentials) })
  halves = { Cookie: headers.get('Set-Cookie')!.split(';')[0]!, 'X-Millrace-Session': json.session.half }
})
afterAll(() => env?.[Symbol.asyncDispose]())

const CALLS: readonly [string, string, () => string][] = [
  ['control plane', 'GET', () => '/v2/destinations'],
  ['Test API', 'POST', () => `/v0/testDestination/${destinationId}`],
  ['definitions', 'GET', () => '/destination-definitions'],
  ['schema catalog', 'GET', () => '/schemas/event-models'],
  ['inbox', 'GET', () => '/inbox/quickstart'],
]

function call(method: string, path: string, headers: Record<string, string>): Promise<ApiAnswer> {
  return env.request(path, { method, headers, body: method === 'POST' ? TESTED : null })
}

test.each(CALLS)('%s takes both halves together and neither alone', async (name, method, path) => {
  expect((await call(method, path(), halves)).status).toBe(200)
  const { Cookie, ...header } = halves
  for (const half of [{ Cookie }, header] as Record<string, string>[]) {
    const { status, headers } = await call(method, path(), half)
    // The schema catalog says it in its own way.
    expect(status).toBe(name === 'schema catalog' ? 400 : 401)
    expect(`${headers.get('WWW-Authenticate')}`).not.toMatch(/Basic/i)
  }
})

test('the Test API goes on asking others for Basic', async () => {
  const { status, headers } = await call('POST', `/v0/testDestination/${destinationId}`, {})
  expect([status, headers.get('WWW-Authenticate')]).toEqual([401, 'Basic'])
})

test('a session sends no event', async () => {
  const refused = await env.request('/v1/track', {
    method: 'POST',
    headers: halves,
    body: JSON.stringify({ userId: 'u', event: 'x', messageId: 'by-session' }),
  })
  expect(refused.status).toBe(401)
  expect(`${refused.headers.get('WWW-Authenticate')}`).not.toMatch(/Basic/i)
  expect((await env.api('GET', '/v2/events/by-session')).status).toBe(404)
  const sent = await env.send('/v1/track', { userId: 'u', event: 'x', messageId: 'by-key' }, writeKey)
  expect(sent.status).toBe(200)
})

test('a session ends at once with its token, also for what is being watched', async () => {
  const { accessToken, token } = (await env.api('POST', '/v2/access-tokens', { name: 'desk', role: 'viewer' })).json
  const body = JSON.stringify({ email: 'owner@localhost', token })
  const { headers, json } = await env.request('/v2/session', { method: 'POST', body })
  const mine = { Cookie: headers.get('Set-Cookie')!.split(';')[0]!, 'X-Millrace-Session': json.session.half as string }
  const tail = await fetch(`${env.url}/v2/tail`, { headers: mine })
  expect(tail.status).toBe(200)
  expect((await env.api('DELETE', `/v2/access-tokens/${accessToken.id}`)).status).toBe(204)
  expect((await call('GET', '/v2/me', mine)).status).toBe(401)
  // Resolves only when the server ends it.
  await tail.text()
})
