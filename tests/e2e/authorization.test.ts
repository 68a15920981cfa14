import { DevEnv } from '@millrace/dev-env'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OAuthServer } from '../oauth-server.ts'

/* A refresh token from the page of a service. @see contracts/destinations.md §7e */

const REDIRECT = 'https://millrace.cinema.example/ui/oauth'

let env: DevEnv
let service: OAuthServer
let editor: string

beforeAll(async () => {
  env = await DevEnv.open()
  service = await OAuthServer.open()
  service.redirectUris.add(REDIRECT)
  editor = (await env.api('POST', '/v2/users', { email: 'editor@cinema.example', role: 'editor' })).json.token
}, 30_000)
afterAll(async () => {
  await env?.[Symbol.asyncDispose]()
  await service?.[Symbol.asyncDispose]()
})

const config = (more: object = {}) => ({
  instanceUrl: service.origin,
  oauthClientId: service.clientId,
  oauthClientSecret: service.clientSecret,
  ...more,
})

function post(path: string, body: object, token = env.token) {
  const headers = { Authorization: `Bearer ${token}` }
  return env.request(`/v2/destinations/authorization${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
}

async function begun(body: object = {}, token?: string): Promise<{ url: string; state: string }> {
  const { json } = await post('', { type: 'SALESFORCE', config: config(), redirectUri: REDIRECT, ...body }, token)
  return json
}

async function codeOf({ url }: { url: string }): Promise<string> {
  return (await service.allow(url)).searchParams.get('code')!
}

test('a person is sent to the page of the service, and the code that they bring back becomes a refresh token', async () => {
  const { url, state } = await begun()
  const page = new URL(url)
  expect(page.origin + page.pathname).toBe(`${service.origin}/services/oauth2/authorize`)
  expect(Object.fromEntries(page.searchParams)).toEqual({
    response_type: 'code',
    client_id: service.clientId,
    redirect_uri: REDIRECT,
    scope: 'api refresh_token',
    state,
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  })
  const back = await service.allow(url)
  expect(back.searchParams.get('state')).toBe(state)
  const { json, headers } = await post('/finish', { state, code: back.searchParams.get('code')! })
  expect(json).toEqual({ refreshToken: service.refreshToken, error: null })
  expect(headers.get('cache-control')).toBe('no-store')
})

test('a state is good once, for the person who began, and the code for the verifier of its own authorization', async () => {
  const first = await begun()
  const code = await codeOf(first)
  const stale = { error: 'The authorization is unknown or older than 10 minutes: start it again' }
  expect((await post('/finish', { state: first.state, code }, editor)).json).toMatchObject(stale)
  const second = await begun()
  expect((await post('/finish', { state: second.state, code })).json).toEqual({
    refreshToken: null,
    error: '[EAUTH] :: authorization failed: the token endpoint answered 400 invalid_grant (you sent ********)',
  })
  expect((await post('/finish', { state: second.state, code })).json).toMatchObject(stale)
  expect((await post('/finish', { state: 'guessed', code })).json).toMatchObject(stale)
})

test('for a saved destination the mask stands for its secret, which goes to its own service only', async () => {
  const saved = { ...config(), externalIdField: 'Millrace_Id__c' }
  const written = { name: 'CRM', type: 'SALESFORCE', config: saved }
  const destinationId = (await env.api('POST', '/v2/destinations', written)).json.destination.id
  const masked = config({ oauthClientSecret: '********' })
  const authorization = await begun({ config: masked, destinationId }, editor)
  const { json } = await post('/finish', { state: authorization.state, code: await codeOf(authorization) }, editor)
  expect(json.refreshToken).toBe(service.refreshToken)
  const elsewhere = { ...masked, instanceUrl: 'https://evil.example' }
  const body = { type: 'SALESFORCE', config: elsewhere, destinationId, redirectUri: REDIRECT }
  const refused = await post('', body, editor)
  expect([refused.status, refused.json.details?.message]).toEqual([422, 'oauthClientSecret is missing'])
})

test('what is wrong is refused with its reason', async () => {
  const right = { type: 'SALESFORCE', config: config(), redirectUri: REDIRECT }
  const address = 'redirectUri must be an address of this dashboard that ends in /ui/oauth'
  const refusals: [object, number, string][] = [
    [{ ...right, type: 'NONE' }, 400, 'Unknown destination type NONE'],
    [
      { ...right, type: 'WEBHOOK', config: { webhookUrl: service.origin } },
      400,
      'WEBHOOK has no authorization by a page of its service',
    ],
    [{ ...right, redirectUri: undefined }, 400, address],
    [{ ...right, redirectUri: 'https://evil.example/steal' }, 400, address],
    [{ ...right, redirectUri: 'javascript:alert(1)//ui/oauth' }, 400, address],
    [{ ...right, redirectUri: `${REDIRECT}?next=evil` }, 400, address],
    [{ ...right, config: { instanceUrl: service.origin } }, 422, 'Invalid config'],
    [{ ...right, config: config({ instanceUrl: 'javascript:alert(1)' }) }, 422, 'Invalid config'],
    [{ ...right, config: config({ instanceUrl: 'https://ada:pw@crm.example' }) }, 422, 'Invalid config'],
    [{ ...right, config: config({ instanceUrl: 'crm' }) }, 422, 'Invalid config'],
    [{ ...right, colour: 1 }, 400, 'Unknown member: colour'],
  ]
  for (const [body, status, error] of refusals) {
    const answer = await post('', body)
    expect([answer.status, answer.json.error.slice(0, error.length)]).toEqual([status, error])
  }
  expect((await post('/finish', { code: 'x' })).json.error).toBe('state is required')
  expect((await post('/finish', { state: 'x' })).json.error).toBe('code is required')
})

test('neither traces nor the audit log hold a secret or a token', async () => {
  const authorization = await begun()
  await post('/finish', { state: authorization.state, code: await codeOf(authorization) })
  const { text } = await env.api('GET', '/v2/audit-log')
  for (const secret of [service.clientSecret, service.refreshToken]) expect(text).not.toContain(secret)
})
