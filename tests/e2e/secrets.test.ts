import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Received, Sink } from '@millrace/dev-env'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, clientOf } from './client.ts'
import { folderBytes } from './folder-bytes.ts'
import { PLAIN, ServerProcess } from './server-process.ts'

/*
 * Secrets planted in destinations whose receiver says them back in every answer: they reach the destination and nothing
 * else (contracts/destinations.md §3, §9 item 14; control-plane.md §12 items 6, 7, 13).
 */

const CANARIES = {
  bearer: 'canary-bearer-7Hq2xxxxxxxx',
  apiKey: 'canary-api-key-0123456789',
  signing: 'canary-signing-secret-0123',
  password: 'canary-password-0123456789',
}
const OTHER = { owner: PLAIN['MILLRACE_OWNER_TOKEN']!, metrics: 'canary-metrics-token-01234' }
const BASIC = Buffer.from(`desk:${CANARIES.password}`).toString('base64')
/** Entered elsewhere than in a destination, some of them in the wrong place. */
const ENTERED = {
  credential: 'canary-credential-0123456789',
  laterCredential: 'canary-credential-later-0123',
  refusedCredential: 'canary-credential-refused-01',
  wrongBearer: 'canary-wrong-bearer-01234567',
  wrongUser: 'canary-wrong-user-0123456789',
  wrongPassword: 'canary-wrong-password-012345',
  bareHeader: 'canary-bare-header-012345678',
  inPath: 'canary-in-the-path-012345678',
  inQuery: 'canary-in-the-query-01234567',
  laterSigning: 'canary-later-signing-0123456',
  secretKey: 'ca'.repeat(31).concat('5e'),
}
/** Those that the server makes and shows once are added when they are made. */
const SECRETS: Record<string, string> = { ...CANARIES, ...OTHER, ...ENTERED, basic: BASIC }

let folder: Awaited<ReturnType<typeof mkdtempDisposable>>
let server: ServerProcess
let sink: Sink
let client: Client
/** Everything that the server said, by what it was asked. */
const said = new Map<string, string>()
/** By the path at which it is received. */
const destinations = new Map<string, string>()

beforeAll(async () => {
  folder = await mkdtempDisposable(join(tmpdir(), 'millrace-secrets-'))
  sink = await Sink.open()
  sink.answer = echo
  const { secretKey: MILLRACE_SECRET_KEY } = ENTERED
  const settings = { MILLRACE_LOG_LEVEL: 'trace', MILLRACE_METRICS_TOKEN: OTHER.metrics, MILLRACE_SECRET_KEY }
  server = await ServerProcess.start({ ...PLAIN, ...settings, MILLRACE_DATA_DIR: folder.path })
  client = clientOf(server.url, OTHER.owner)
  await deliverToAll()
  await enterElsewhere()
  await askEverything()
  expect(await server.stop()).toBe(0)
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  await sink?.[Symbol.asyncDispose]()
  await folder?.remove()
})

test('the destinations were sent the secrets, so there was something to leak', () => {
  for (const path of destinations.keys()) {
    const request = sink.received.find((each) => each.path.startsWith(path))!
    expect(request.headers).toMatchObject({
      authorization: `Bearer ${CANARIES.bearer}`,
      'x-api-key': CANARIES.apiKey,
      'millrace-signature': expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/),
    })
  }
})

test('the answers of the destinations are kept, with the secrets masked', () => {
  expect(said.get('trace of /refused')).toContain('********')
  expect(said.get('trace of /refused')).toContain('said back')
  expect(said.get('dead letter of /refused')).toContain('said back')
})

test('the audit log tells of all that was done with them', () => {
  const log = said.get('/v2/audit-log?limit=500')!
  for (const action of ['create', 'update', 'delete', 'sign_in', 'first_use'])
    expect(log).toContain(`"action":"${action}"`)
  for (const kind of ['destination', 'credential', 'user', 'access-token', 'session']) {
    expect(log).toContain(`"kind":"${kind}"`)
  }
  expect(log).toContain('"secretChanged":true')
})

test('no answer of the server holds one', () => {
  expect(said.size).toBeGreaterThan(20)
  expect([...said].flatMap(([what, text]) => leaks(what, text))).toEqual([])
})

test('nothing that is printed or logged holds one', () => {
  expect([...leaks('standard output', server.stdout), ...leaks('log', server.stderr)]).toEqual([])
})

test('no file of the data folder holds one in clear', () => {
  const files = folderBytes(folder.path)
  expect([...files.keys()]).toEqual(expect.arrayContaining(['control.db', 'delivery.db']))
  expect([...files].flatMap(([path, bytes]) => leaks(path, bytes.toString('latin1')))).toEqual([])
})

test('a masked resource that is written back keeps every secret working', async () => {
  await using again = await ServerProcess.start({
    ...PLAIN,
    MILLRACE_SECRET_KEY: ENTERED.secretKey,
    MILLRACE_DATA_DIR: folder.path,
  })
  const restarted = clientOf(again.url, OTHER.owner)
  const id = destinations.get('/taken')!
  const { json } = await restarted.call('GET', `/v2/destinations/${id}`)
  expect(JSON.stringify(json)).toContain('********')
  expect((await restarted.call('PUT', `/v2/destinations/${id}`, json)).status).toBe(200)
  sink.clear()
  await send(restarted, 'after-restart')
  await sink.until(() => taken() !== undefined, 'a request at /taken')
  expect(taken()!.headers).toMatchObject({
    authorization: `Bearer ${CANARIES.bearer}`,
    'x-api-key': CANARIES.apiKey,
    'millrace-signature': expect.stringMatching(/^t=/),
  })
})

const taken = () => sink.received.find(({ path }) => path.startsWith('/taken'))
let writeKey: string

/** One destination each that takes, refuses, fails and breaks off; all with every kind of secret. */
async function deliverToAll(): Promise<void> {
  const { json } = await client.call('POST', '/v2/sources', { name: 'Source', type: 'HTTP' })
  writeKey = json.source.writeKey
  for (const path of ['/taken', '/refused', '/failing', '/reset']) {
    const made = await client.call('POST', '/v2/destinations', {
      name: `Hook ${path}`,
      type: 'WEBHOOK',
      config: {
        webhookUrl: `http://desk:${CANARIES.password}@127.0.0.1:${sink.port}${path}`,
        headers: [
          { from: 'Authorization', to: `Bearer ${CANARIES.bearer}` },
          { from: 'X-Api-Key', to: CANARIES.apiKey },
          { from: 'X-Desk', to: '3' },
        ],
        signingSecret: CANARIES.signing,
      },
      delivery: { keepAnswers: 'all' },
    })
    expect(made.status).toBe(200)
    said.set(`creation of ${path}`, made.text)
    const destinationId = made.json.destination.id
    destinations.set(path, destinationId)
    await client.call('POST', '/v2/connections', { sourceId: json.source.id, destinationId })
  }
  await send(client, 'm-1')
  await client.untilOutcome('m-1', destinations.get('/taken')!, 'delivered')
  await client.untilOutcome('m-1', destinations.get('/refused')!, 'dead_lettered')
  await client.untilOutcome('m-1', destinations.get('/failing')!, 'retrying')
  await client.untilOutcome('m-1', destinations.get('/reset')!, 'retrying')
}

/** Every other place that takes a secret, and the places where people paste one by mistake. */
async function enterElsewhere(): Promise<void> {
  const { call } = client
  const say = async (what: string, answer: ReturnType<Client['call']>) => void said.set(what, (await answer).text)
  for (const [n, value] of [ENTERED.credential, ENTERED.laterCredential].entries()) {
    await say(`credential ${n}`, call('PUT', '/v2/credentials/geo_api', { value }))
  }
  const refused = { value: ENTERED.refusedCredential, colour: 1 }
  await say('a refused credential', call('PUT', '/v2/credentials/refused', refused))
  await say('a credential of no text', call('PUT', '/v2/credentials/refused', { value: [ENTERED.refusedCredential] }))
  await say(
    'another signing secret',
    call('PATCH', `/v2/destinations/${destinations.get('/failing')}`, {
      config: {
        webhookUrl: `http://desk:********@127.0.0.1:${sink.port}/failing`,
        signingSecret: ENTERED.laterSigning,
      },
    }),
  )
  const { json: user } = await call('POST', '/v2/users', { email: 'ada@cinema.example', role: 'editor' })
  SECRETS['firstToken'] = user.token
  const { json: made } = await call('POST', '/v2/access-tokens', { name: 'ci', role: 'viewer' }, user.token)
  SECRETS['accessToken'] = made.token
  await useSession('ada@cinema.example', user.token)
  await say('me', call('GET', '/v2/me', undefined, made.token))
  await say('a write that is forbidden', call('DELETE', '/v2/sources/x', undefined, made.token))
  await say('an update of the user', call('PATCH', `/v2/users/${user.user.id}`, { role: 'viewer' }))

  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
  const headers = [
    `Bearer ${ENTERED.wrongBearer}`,
    basic(`${ENTERED.wrongUser}:${ENTERED.wrongPassword}`),
    basic(`ada@cinema.example:${ENTERED.wrongPassword}`),
    basic(`${user.token}:`),
    ENTERED.bareHeader,
  ]
  for (const [n, Authorization] of headers.entries()) {
    const answer = await fetch(`${server.url}/v2/sources?token=${ENTERED.inQuery}`, { headers: { Authorization } })
    expect(answer.status).toBe(401)
    said.set(`sign-in ${n}`, await answer.text())
  }
  // The answer to a wrong path repeats it to whoever sent it; nobody else may find it.
  for (const path of ['/v2/access-tokens', '/v2/credentials', '/v2/sources']) {
    expect((await call('DELETE', `${path}/${ENTERED.inPath}`)).status).toBe(404)
    expect((await call('DELETE', `${path}/${user.token}`)).status).toBe(404)
  }
  expect((await call('DELETE', `/v2/users/${user.user.id}`)).status).toBe(204)
}

/** A session goes on while everything is asked: only its two halves are secret, and only the answer to the sign-in has them. */
async function useSession(email: string, token: string): Promise<void> {
  const answer = await client.call('POST', '/v2/session', { email, token }, null)
  const [cookie] = answer.headers.get('set-cookie')!.split(';') as [string]
  SECRETS['sessionCookie'] = cookie.split('=')[1]!
  SECRETS['sessionHalf'] = answer.json.session.half
  const headers = { Cookie: cookie, 'X-Millrace-Session': answer.json.session.half }
  for (const path of ['/v2/session', '/v2/sources?wrong=%zz', '/schemas/event-models', '/destination-definitions']) {
    const shown = await fetch(server.url + path, { headers })
    said.set(`${path} of a session`, `${shown.status} ${await shown.text()}`)
  }
  const halves = [{ Cookie: cookie }, { 'X-Millrace-Session': answer.json.session.half }]
  for (const [n, half] of halves.entries()) {
    const refused = await fetch(`${server.url}/v2/sources`, { headers: half as Record<string, string> })
    expect(refused.status).toBe(401)
    said.set(`half ${n} of a session`, await refused.text())
  }
  const mistaken = { email: SECRETS['sessionHalf'], token: SECRETS['sessionCookie'] }
  said.set('halves to sign in with', (await client.call('POST', '/v2/session', mistaken, null)).text)
}

async function askEverything(): Promise<void> {
  const ask = async (what: string, path: string, token?: string) =>
    void said.set(what, (await client.call('GET', path, undefined, token)).text)
  const letters = await client.call('GET', '/v2/dead-letters')
  await ask('trace of /refused', '/v2/events/m-1')
  await ask('dead letter of /refused', `/v2/dead-letters/${letters.json.deadLetters[0].id}`)
  for (const path of LISTS) await ask(path, path)
  await ask('/metrics', '/metrics', OTHER.metrics)
  await ask('/sourceConfig', `/sourceConfig?writeKey=${writeKey}`)
  for (const [path, id] of destinations) {
    await ask(`destination ${path}`, `/v2/destinations/${id}`)
    await ask(`state of ${path}`, `/v2/destinations/${id}/delivery`)
    await ask(`event rendered for ${path}`, `/v2/events/m-1?render=${id}`)
    const tested = { type: 'WEBHOOK', config: {}, destinationId: id }
    said.set(`connection to ${path}`, (await client.call('POST', '/v2/destinations/test-connection', tested)).text)
  }
  const id = destinations.get('/taken')!
  const wrong: [string, string, object][] = [
    [
      'a wrong method',
      `/v2/destinations/${id}`,
      { config: { webhookUrl: 'http://x/', webhookMethod: CANARIES.apiKey } },
    ],
    [
      'a short signing secret',
      `/v2/destinations/${id}`,
      { config: { webhookUrl: 'http://x/', signingSecret: 'canary-' } },
    ],
    [
      'a wrong header list',
      `/v2/destinations/${id}`,
      { config: { webhookUrl: 'http://x/', headers: [CANARIES.bearer] } },
    ],
  ]
  for (const [what, path, body] of wrong) {
    const { status, text } = await client.call('PATCH', path, body)
    expect([what, status]).toEqual([what, 422])
    said.set(what, text)
  }
  const elsewhere = { config: { webhookUrl: 'https://other.example/in' } }
  const moved = await client.call('PATCH', `/v2/destinations/${destinations.get('/reset')}`, elsewhere)
  said.set('a change of host', `${moved.text} ${moved.headers.get('x-millrace-warning')}`)
}

const LISTS = [
  '/v2/sources',
  '/v2/destinations',
  '/v2/connections',
  '/v2/dead-letters',
  '/v2/dead-letters/groups',
  '/v2/delivery',
  '/v2/refusals',
  '/v2/stats?by=reason',
  '/v2/users',
  '/v2/access-tokens',
  '/v2/credentials',
  '/v2/audit-log?limit=500',
  '/v2/me',
  '/v2/admin/info',
  '/inbox/quickstart',
  '/health',
]

function send({ call }: Client, messageId: string) {
  return call('POST', '/v1/track', { messageId, userId: messageId, event: 'Planted', writeKey }, null)
}

/** Answers with all that it was sent and all that it was never sent, in the form of its path. */
function echo({ path, headers }: Received) {
  if (path.startsWith('/reset')) return 'reset' as const
  const status = path.startsWith('/taken') ? 200 : path.startsWith('/refused') ? 400 : 500
  const type = status === 500 ? 'text/plain' : 'application/json'
  const body = JSON.stringify({ what: 'said back', headers, ...CANARIES, url: `http://desk:${CANARIES.password}@x/` })
  return { status, headers: { 'Content-Type': type, 'X-Echo': CANARIES.apiKey }, body }
}

/** Secrets in a text, each by its name and with what stands before it. */
function leaks(what: string, text: string): string[] {
  return Object.entries(SECRETS).flatMap(([name, secret]) => {
    const at = text.indexOf(secret)
    return at === -1 ? [] : [`${name} in ${what}: …${text.slice(Math.max(0, at - 60), at)}`]
  })
}
