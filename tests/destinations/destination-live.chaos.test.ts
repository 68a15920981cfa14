import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ROOT } from './checkout-copy.ts'

/* The program runs against a server of this test, which answers like the services and their token endpoints. */

const TOKEN = 'canary-x7Hq2-0123456789'
const credentials = { subdomain: 'sandbox', email: 'ada@cinema.example', apiToken: TOKEN }

interface Received {
  readonly path: string
  readonly authorization: string
  readonly body: Record<string, Record<string, string>>
}

let server: Server
let origin: string
let folder: string
let received: Received[]
let answer: (path: string) => { status: number; body: string }

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'millrace-live-'))
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { url = '', headers } = request
    const text = Buffer.concat(chunks).toString()
    const isForm = headers['content-type'] === 'application/x-www-form-urlencoded'
    const body = (
      isForm ? { form: Object.fromEntries(new URLSearchParams(text)) } : JSON.parse(text)
    ) as Received['body']
    received.push({ path: url, authorization: headers.authorization ?? '', body })
    const { status, body: answered } = answer(url)
    response.writeHead(status, { 'content-type': 'application/json' }).end(answered)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await new Promise((resolve) => server.close(resolve))
})
beforeEach(() => {
  received = []
  answer = () => ({ status: 200, body: '{"ok":\n true}' })
})

async function live(words: string[], env: Record<string, string> = {}) {
  const program = path.join(ROOT, 'scripts/new-destination/live.ts')
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [program, ...words], { env: { PATH, NODE_COMPILE_CACHE, ...env } })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (text += part))
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { status, text }
}

function inVariable(config: object): Record<string, string> {
  return { DESTINATION_LIVE_CONFIG: JSON.stringify(config) }
}

test('each documented case is sent with the given credentials, and told on a line', async () => {
  const { status, text } = await live(['zendesk', '--origin', origin], inVariable(credentials))
  expect(status).toBe(0)
  expect(text.split('\n')).toEqual([
    'accepted  An identify creates or updates a user: POST https://sandbox.zendesk.com/api/v2/users/create_or_update → 200 {"ok": true}',
    'accepted  A group creates or updates an organization: POST https://sandbox.zendesk.com/api/v2/organizations/create_or_update → 200 {"ok": true}',
    'accepted  A track adds an event to the timeline of the user: POST https://sandbox.zendesk.com/api/v2/user_profiles/events → 200 {"ok": true}',
    'skipped   An anonymous user is refused: it makes no request',
    '3 accepted, 0 refused, 1 skipped',
    '',
  ])
  const authorization = `Basic ${Buffer.from(`ada@cinema.example/token:${TOKEN}`).toString('base64')}`
  expect(received.map((each) => each.authorization)).toEqual([authorization, authorization, authorization])
  const age = Date.now() - Date.parse(received[2]!.body['event']!['created_at']!)
  expect(age).toBeGreaterThanOrEqual(0)
  expect(age).toBeLessThan(60_000)
})

test('one refusal makes the run fail, and no answer shows a secret', async () => {
  answer = (url) =>
    url.includes('users') ? { status: 422, body: `{"error":"${TOKEN} may not"}` } : { status: 200, body: '' }
  const file = path.join(folder, 'zendesk.json')
  writeFileSync(file, JSON.stringify(credentials))
  const { status, text } = await live(['zendesk', '--config', file, '--origin', origin, '--case', 'creates'])
  expect(status).toBe(1)
  expect(text).toContain('→ 422 {"error":"******** may not"}')
  expect(text).toContain('accepted  A group creates or updates an organization')
  expect(text).toContain('1 accepted, 1 refused, 0 skipped')
  expect(text).not.toContain(TOKEN)
  expect(text).not.toContain(Buffer.from(`ada@cinema.example/token:${TOKEN}`).toString('base64'))
})

test('an error under status 200 is a refusal, as in live traffic', async () => {
  answer = () => ({ status: 200, body: '{"ok":false,"error":"channel_not_found"}' })
  const config = inVariable({ botToken: TOKEN, channel: 'C1' })
  const { status, text } = await live(['slack', '--origin', origin], config)
  expect(status).toBe(1)
  expect(text).toContain('refused   A channel for an event: POST https://slack.com/api/chat.postMessage → 200')
  expect(text).toContain('skipped   A text of your own: it needs webhookUrl')
})

test('a request of a type with batches is sent as in live traffic, and judged by its own element', async () => {
  answer = () => ({ status: 200, body: '{"elements":[{"status":422}]}' })
  const config = inVariable({ accessToken: TOKEN, conversions: [{ eventName: '*', conversionId: '104012' }] })
  const { status, text } = await live(['linkedin-capi', '--origin', origin, '--case', 'streamed'], config)
  expect(status).toBe(1)
  expect(text).toContain('POST https://api.linkedin.com/rest/conversionEvents → 200 {"elements":[{"status":422}]}')
  expect(received).toMatchObject([
    { authorization: `Bearer ${TOKEN}`, body: { elements: [{ conversion: 'urn:lla:llaPartnerConversion:104012' }] } },
  ])
})

const salesforce = { oauthClientId: 'millrace', oauthClientSecret: TOKEN }

test('the access token of OAuth 2 is obtained and put in, and shown nowhere', async () => {
  const issued = 'canary-of-the-issued-token'
  const taken = `[{"id":"${issued}","success":true,"errors":[]}]`
  answer = (url) => ({ status: 200, body: url.includes('token') ? `{"access_token":"${issued}"}` : taken })
  const { status, text } = await live(['salesforce', '--origin', origin, '--case', 'updates'], inVariable(salesforce))
  expect(text).toContain('1 accepted, 0 refused, 0 skipped')
  expect(status).toBe(0)
  const [token, request] = received
  expect(token!.body).toEqual({
    form: { grant_type: 'client_credentials', client_id: 'millrace', client_secret: TOKEN },
  })
  expect(request!.authorization).toBe(`Bearer ${issued}`)
  expect(text).toContain('→ 200 [{"id":"********","success":true')
  expect(text).not.toContain(TOKEN)
})

test('a client that the token endpoint refuses is told with the reason, and nothing is sent', async () => {
  answer = () => ({ status: 401, body: '{"error":"invalid_client"}' })
  const { status, text } = await live(['salesforce', '--origin', origin, '--case', 'updates'], inVariable(salesforce))
  expect(status).toBe(1)
  expect(text).toContain('→ not sent: [EAUTH] :: authorization failed: the token endpoint answered 401 invalid_client')
  expect(received).toHaveLength(1)
})

test('a client certificate is presented, and the authority of the server is that of the configuration', async () => {
  const tls = await import(path.join(ROOT, 'packages/delivery/src/outbound/client-certificate-under-test.ts'))
  const names: unknown[] = []
  const options = { cert: tls.SERVER_CERTIFICATE, key: tls.SERVER_KEY, ca: tls.CA_CERTIFICATE, requestCert: true }
  const secure = createSecureServer(options, (request, response) => {
    names.push((request.socket as TLSSocket).getPeerCertificate().subject.CN)
    request.resume()
    response.end('ok')
  })
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve))
  const config = {
    webhookUrl: `https://127.0.0.1:${(secure.address() as AddressInfo).port}/in`,
    tlsCertificate: tls.CLIENT_CERTIFICATE,
    tlsKey: tls.CLIENT_KEY,
    tlsCa: tls.CA_CERTIFICATE,
  }
  const { status, text } = await live(['webhook', '--case', 'client certificate'], inVariable(config))
  await new Promise((resolve) => secure.close(resolve))
  expect([status, names]).toEqual([0, ['millrace']])
  expect(text).toContain('/in → 200 ok')
})

test('a server that is not there is told, not thrown', async () => {
  const { status, text } = await live(['zendesk', '--origin', 'http://127.0.0.1:1'], inVariable(credentials))
  expect(status).toBe(1)
  expect(text).toMatch(/refused {3}An identify .* → no answer: /)
})

test.each<[words: string[], env: Record<string, string>, text: string]>([
  [['zendesk'], {}, 'no credentials: give apiToken with --config <file>, or as JSON in DESTINATION_LIVE_CONFIG'],
  [['zendesk'], { DESTINATION_LIVE_CONFIG: `{"apiToken": "${TOKEN}"` }, 'DESTINATION_LIVE_CONFIG is no JSON'],
  [['zendesk'], { DESTINATION_LIVE_CONFIG: `"${TOKEN}"` }, 'DESTINATION_LIVE_CONFIG is no object'],
  [['zendesk', '--config', 'none.json'], {}, 'none.json'],
  [['none'], inVariable(credentials), 'there is no destination type in packages/destinations/src/types/none'],
  [['zendesk', '--case', 'xyz'], inVariable(credentials), 'no documented case of zendesk has xyz in its name'],
  [['zendesk', '--origin', 'cinema'], inVariable(credentials), 'cinema is no address'],
  [[], {}, 'Give one name'],
])('wrong arguments are named without a secret: %j', async (words, env, expected) => {
  const { status, text } = await live(words, env)
  expect([status, text]).toEqual([64, expect.stringContaining(expected)])
  expect(text).not.toContain(TOKEN)
  expect(received).toEqual([])
})
