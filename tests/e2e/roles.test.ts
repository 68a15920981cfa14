import { type ApiAnswer, DevEnv } from '@millrace/dev-env'
import { afterAll, beforeAll, expect, test } from 'vitest'

/*
 * Who may call what: every route that the server answers, but for those of ingest, against nobody and every role, with
 * ids that exist and ids that do not (contracts/control-plane.md §2, §12 item 11).
 */

let made = 0
const OAUTH_APP = { oauthClientId: 'app', oauthClientSecret: 'secret-of-the-app' }
const TWILIO = { accountSID: 'AC0123', apiKeySID: 'SK0123', apiKeySecret: 'secret-of-twilio' }
const ROLES = ['viewer', 'editor', 'admin'] as const
type Role = (typeof ROLES)[number]

interface Row {
  /** `anyone`: without credentials, and whatever they are. */
  readonly least: Role | 'anyone'
  /** A body with which the call is right. */
  readonly body?: object | (() => Promise<object>)
  /** Makes what the call is about. @returns its id; @param token of the one who calls. */
  readonly own?: (token: string) => Promise<string>
  /** The right call never ends; with this it is refused with 400 to those who may make it. */
  readonly wrongQuery?: string
  /** The right call needs what the same person began; this one is refused with 400 to those who may make it. */
  readonly isUnbegun?: true
  /** With an id that is not there the call makes it. */
  readonly makesUnknown?: true
  /** Called with a session of the token in place of the token itself. */
  readonly bySession?: true
  /** Refused as `{"message": text}`, in the way of the Test API. */
  readonly saysMessage?: true
}

const ROWS: Readonly<Record<string, Row>> = {
  'GET /': { least: 'anyone' },
  'GET /openapi.json': { least: 'anyone' },
  'GET /docs': { least: 'anyone' },
  'GET /health': { least: 'anyone' },
  'GET /ready': { least: 'anyone' },
  'GET /version': { least: 'anyone' },
  'GET /metrics': { least: 'anyone' },
  'GET /robots.txt': { least: 'anyone' },
  // Takes write keys, which are public.
  'GET /sourceConfig': { least: 'anyone' },
  'GET /v1/projects/:writeKey/settings': { least: 'anyone' },
  'GET /analytics.js/v1/:writeKey/analytics.min.js': { least: 'anyone' },
  'GET /analytics-next/bundles/:name': { least: 'anyone' },
  'GET /inbox/quickstart': { least: 'viewer' },
  // Its path is the secret.
  'POST /inbox/<secret>': { least: 'anyone' },

  'POST /v0/testDestination/:id': { least: 'viewer', own: destination, body: tested(), saysMessage: true },
  'POST /v0/testSource/:id': { least: 'viewer', own: connectedSource, body: tested(), saysMessage: true },
  'GET /destination-definitions': { least: 'viewer', saysMessage: true },
  'GET /destination-definitions/:name': { least: 'viewer', own: async () => 'WEBHOOK', saysMessage: true },

  'GET /v2/me': { least: 'viewer' },
  'GET /v2/admin/info': { least: 'viewer' },
  'POST /v2/admin/backup': { least: 'admin', body: { log: false } },

  'POST /v2/admin/rebuild-catalog': { least: 'admin' },

  'GET /v2/sources': { least: 'viewer' },
  'POST /v2/sources': { least: 'editor', body: { name: 'Source', type: 'HTTP' } },
  'GET /v2/sources/:id': { least: 'viewer', own: source },
  'PUT /v2/sources/:id': { least: 'editor', own: source, body: { name: 'Source' } },
  'PATCH /v2/sources/:id': { least: 'editor', own: source, body: {} },
  'DELETE /v2/sources/:id': { least: 'editor', own: source },
  'DELETE /v2/sources/:id/catalog': { least: 'admin', own: source },
  'POST /v2/sources/:id/rotate-write-key': { least: 'editor', own: source, body: {} },

  'GET /v2/destinations': { least: 'viewer' },
  'POST /v2/destinations': { least: 'editor', body: { name: 'Hook', type: 'WEBHOOK', config: hook() } },
  'GET /v2/destinations/:id': { least: 'viewer', own: destination },
  'PUT /v2/destinations/:id': { least: 'editor', own: destination, body: { name: 'Hook', config: hook() } },
  'PATCH /v2/destinations/:id': { least: 'editor', own: destination, body: {} },
  'DELETE /v2/destinations/:id': { least: 'editor', own: destination },
  'POST /v2/destinations/test-connection': { least: 'editor', body: { type: 'SLACK', config: slack() } },
  'POST /v2/destinations/field-options': {
    least: 'editor',
    body: { type: 'CATALOG_TWILIO_MESSAGING', config: TWILIO, action: 'sendMessage', field: 'channel' },
  },
  'POST /v2/destinations/authorization': {
    least: 'editor',
    body: { type: 'GOOGLE_ADS', config: OAUTH_APP, redirectUri: 'https://millrace.example/ui/oauth' },
  },
  'POST /v2/destinations/authorization/finish': {
    least: 'editor',
    body: { state: 'unknown', code: 'c' },
    isUnbegun: true,
  },
  'GET /v2/destinations/:id/delivery': { least: 'viewer', own: destination },

  'GET /v2/connections': { least: 'viewer' },
  'POST /v2/connections': { least: 'editor', body: pair },
  'POST /v2/connections/rule-count': { least: 'viewer', body: async () => ({ sourceId: await source() }) },
  'GET /v2/connections/:id': { least: 'viewer', own: connection },
  'PUT /v2/connections/:id': { least: 'editor', own: connection, body: {} },
  'PATCH /v2/connections/:id': { least: 'editor', own: connection, body: {} },
  'DELETE /v2/connections/:id': { least: 'editor', own: connection },

  'GET /v2/transformations': { least: 'viewer' },
  'POST /v2/transformations': { least: 'editor', body: code() },
  'GET /v2/transformations/:id': { least: 'viewer', own: transformation },
  'PUT /v2/transformations/:id': { least: 'editor', own: transformation, body: code() },
  'DELETE /v2/transformations/:id': { least: 'editor', own: transformation },
  'GET /v2/transformations/:id/versions': { least: 'viewer', own: transformation },
  'GET /v2/transformations/:id/versions/:versionId': { least: 'viewer', own: versionOfTransformation },
  'POST /v2/transformations/:id/versions/:versionId/publish': { least: 'editor', own: versionOfTransformation },
  'GET /v2/transformations/:id/tests': { least: 'viewer', own: transformation },
  'PUT /v2/transformations/:id/tests': { least: 'editor', own: transformation, body: { tests: [] } },
  'POST /v2/transformations/:id/tests/run': { least: 'editor', own: transformation },
  'GET /v2/transformations/:id/logs': { least: 'viewer', own: transformation },
  'POST /v2/transformations/test': { least: 'editor', body: { ...code(), name: undefined, events: [{}] } },
  'GET /v2/transformation-templates': { least: 'viewer' },

  'GET /v2/libraries': { least: 'viewer' },
  'POST /v2/libraries': { least: 'editor', body: async () => code() },
  'GET /v2/libraries/:id': { least: 'viewer', own: library },
  'PUT /v2/libraries/:id': { least: 'editor', own: library, body: async () => code() },
  'DELETE /v2/libraries/:id': { least: 'editor', own: library },
  'GET /v2/libraries/:id/versions': { least: 'viewer', own: library },
  'GET /v2/libraries/:id/versions/:versionId': { least: 'viewer', own: versionOfLibrary },
  'POST /v2/libraries/:id/versions/:versionId/publish': { least: 'editor', own: versionOfLibrary },

  'GET /v2/config': { least: 'viewer' },
  'POST /v2/config/plan': { least: 'viewer', body: { document: { millrace: 1 } } },
  'POST /v2/config/apply': { least: 'editor', body: configurationAsItIs },

  'GET /v2/credentials': { least: 'viewer' },
  'PUT /v2/credentials/:key': { least: 'editor', own: credential, body: { value: 'v' }, makesUnknown: true },
  'DELETE /v2/credentials/:key': { least: 'editor', own: credential },

  'GET /v2/users': { least: 'admin' },
  'POST /v2/users': { least: 'admin', body: async () => newUser() },
  'GET /v2/users/:id': { least: 'admin', own: user },
  'PATCH /v2/users/:id': { least: 'admin', own: user, body: { role: 'editor' } },
  'DELETE /v2/users/:id': { least: 'admin', own: user },

  'GET /v2/access-tokens': { least: 'viewer' },
  'POST /v2/access-tokens': { least: 'viewer', body: { name: 'ci', role: 'viewer' } },
  'DELETE /v2/access-tokens/:id': { least: 'viewer', own: accessToken },
  // Its body is the credentials.
  'POST /v2/session': { least: 'anyone', body: async () => ({ email: 'owner@localhost', token: env.token }) },
  'GET /v2/session': { least: 'viewer', bySession: true },
  'DELETE /v2/session': { least: 'viewer', bySession: true },

  'GET /v2/audit-log': { least: 'admin' },

  'GET /v2/delivery': { least: 'viewer' },
  'GET /v2/refusals': { least: 'viewer' },
  'GET /v2/stats': { least: 'viewer' },
  'GET /v2/events': { least: 'viewer' },
  'GET /v2/tail': { least: 'viewer', wrongQuery: '?type=none' },
  'GET /v2/events/:messageId': { least: 'viewer', own: async () => 'm-refused' },
  'GET /v2/dead-letters': { least: 'viewer' },
  'GET /v2/dead-letters/groups': { least: 'viewer' },
  'GET /v2/dead-letters/:id': { least: 'viewer', own: async () => deadLetterId },
  'DELETE /v2/dead-letters/:id': { least: 'editor', own: deadLetter },
  'POST /v2/dead-letters/:id/replay': { least: 'editor', own: deadLetter },
  'POST /v2/dead-letters/replay': { least: 'editor', body: { filter: { messageId: 'none' } } },
  'POST /v2/dead-letters/discard': { least: 'editor', body: { filter: { messageId: 'none' } } },

  'GET /v2/replays': { least: 'viewer' },
  'POST /v2/replays': { least: 'editor', body: rangeOfLog },
  'GET /v2/replays/:id': { least: 'viewer', own: replay },
  'POST /v2/replays/:id/pause': { least: 'editor', own: waitingReplay },
  'POST /v2/replays/:id/resume': { least: 'editor', own: pausedReplay },
  'POST /v2/replays/:id/cancel': { least: 'editor', own: waitingReplay },
}

const NO_ID = '3iidO0kXIpgrmam9JhPLS2gpoVe'
const tokens: Partial<Record<Role, string>> = {}
let env: DevEnv
let deadLetterId: string
let refusedWriteKey: string
let inboxPath: string

beforeAll(async () => {
  env = await DevEnv.open({ settings: { MILLRACE_TRUSTED_PROXIES: '127.0.0.1' } })
  for (const role of ROLES) tokens[role] = (await post('/v2/users', { email: `${role}@cinema.example`, role })).token
  inboxPath = env.routes.registered().flatMap((route) => SECRET_PATH.exec(route) ?? [])[0]!
  env.sink.answer = () => ({ status: 400 })
  const { source, destinationId } = await env.webhook()
  refusedWriteKey = source.writeKey
  await env.send('/v1/track', { messageId: 'm-refused', userId: 'u', event: 'x' }, source.writeKey)
  await env.journey('m-refused', 'dead_lettered', destinationId)
  deadLetterId = (await env.api('GET', '/v2/dead-letters')).json.deadLetters[0].id
})
afterAll(() => env?.[Symbol.asyncDispose]())

test('every route that answers has its row here, and every row its route', () => {
  const names = env.routes
    .registered()
    .map((route) => route.replace(SECRET_PATH, '/inbox/<secret>').replace(/\{(\w+)\}/g, ':$1'))
  expect(names.sort()).toEqual(Object.keys(ROWS).sort())
})

test.each(Object.entries(ROWS).filter(([, { least }]) => least === 'anyone'))(
  '%s asks for no credentials',
  async (name) => {
    const [nobody, admin] = [await call(name, null), await call(name, tokens.admin!)]
    expect(nobody.status).not.toBe(401)
    expect(nobody.status).toBe(admin.status)
  },
)

test.each(Object.entries(ROWS).filter(([, { least }]) => least !== 'anyone'))(
  '%s is open to its roles and to nobody else, who do not learn whether an id exists',
  async (name, row) => {
    for (const role of [null, ...ROLES]) {
      const token = role === null ? null : tokens[role]!
      const own = await call(name, token, row.own && (await row.own(token ?? env.token)))
      if (role !== null && ROLES.indexOf(role) >= ROLES.indexOf(row.least as Role)) {
        if (row.wrongQuery !== undefined || row.isUnbegun) expect.soft(own.status, `${role}`).toBe(400)
        else expect.soft(own.status, `${role}: ${own.text}`).toBeLessThan(300)
        if (row.own === undefined || row.makesUnknown) continue
        // What is there under another name is as unknown here.
        for (const id of [NO_ID, 'x', (await env.source()).id]) {
          if (/sources\/|testSource/.test(name) && id !== NO_ID && id !== 'x') continue
          const unknown = await call(name, token, id)
          const code = row.saysMessage ? undefined : 'not_found'
          expect.soft([unknown.status, unknown.json?.code], `${role}: ${id}`).toEqual([404, code])
        }
      } else {
        const [status, error, code] =
          role === null ? [401, 'Invalid Authorization Header', 'unauthorized'] : [403, 'Forbidden', 'forbidden']
        expect.soft(own.status, `${role}`).toBe(status)
        expect.soft(own.json, `${role}`).toEqual(row.saysMessage ? { message: error } : { error, code, details: null })
        if (row.own === undefined) continue
        expect.soft(seen(await call(name, token, NO_ID)), `${role}`).toEqual(seen(own))
      }
    }
  },
)

test("another's access token is as unknown as one that is not there, but to an admin", async () => {
  const name = 'DELETE /v2/access-tokens/:id'
  for (const role of ['viewer', 'editor'] as const) {
    const id = await accessToken(env.token)
    const known = await call(name, tokens[role]!, id)
    expect(known.status).toBe(404)
    const unknown = await call(name, tokens[role]!, NO_ID)
    expect({ ...seen(known), text: known.text.replace(id, NO_ID) }).toEqual(seen(unknown))
  }
  expect((await call(name, tokens.admin!, await accessToken(tokens.viewer!))).status).toBe(204)
})

test('a token acts with the lower of its own role and that of its user', async () => {
  const { token: viewerToken } = await post('/v2/access-tokens', { name: 'ci', role: 'viewer' })
  expect((await call('POST /v2/sources', viewerToken)).status).toBe(403)
  const { user, token } = await post('/v2/users', { email: 'grace@cinema.example', role: 'admin' })
  expect((await call('GET /v2/users', token)).status).toBe(200)
  expect((await env.api('PATCH', `/v2/users/${user.id}`, { role: 'viewer' })).status).toBe(200)
  expect((await call('GET /v2/users', token)).status).toBe(403)
  expect((await call('POST /v2/sources', token)).status).toBe(403)
  expect((await call('GET /v2/sources', token)).status).toBe(200)
})

const SECRET_PATH = /\/inbox\/[0-9a-f]{32}$/

async function call(name: string, token: string | null, id = ''): Promise<ApiAnswer> {
  const [method, path] = withIds(name, id).replace('/inbox/<secret>', inboxPath).split(' ') as [string, string]
  const body = ROWS[name]!.body
  const sent = typeof body === 'function' ? await body() : body
  return env.request(path + (ROWS[name]!.wrongQuery ?? ''), {
    method,
    // From an address of its own: whoever has failed a hundred times waits for each further answer.
    headers:
      token === null
        ? { 'X-Forwarded-For': `2001:db8:${(++made).toString(16)}::1` }
        : ROWS[name]!.bySession
          ? await sessionOf(token)
          : { Authorization: `Bearer ${token}` },
    body: sent === undefined ? null : JSON.stringify(sent),
  })
}

/** What a browser sends that has signed in. */
async function sessionOf(token: string): Promise<Record<string, string>> {
  const email = (await env.request('/v2/me', { headers: { Authorization: `Bearer ${token}` } })).json.user.email
  const { headers, json } = await env.request('/v2/session', { method: 'POST', body: JSON.stringify({ email, token }) })
  return { Cookie: headers.get('Set-Cookie')!.split(';')[0]!, 'X-Millrace-Session': json.session.half }
}

/** @param id `<id>/<versionId>` of a version; of what is not there the same for both. */
function withIds(name: string, id: string): string {
  const [first = '', second = first] = id.split('/')
  return name.replace(':versionId', second).replace(/:\w+/, first)
}

/** All that an answer tells, but for what differs between any two. */
function seen({ status, text, headers }: ApiAnswer) {
  const others = [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name))
  return { status, text, headers: others }
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON of whatever is made
async function post(path: string, body: object, token = env.token): Promise<any> {
  const headers = { Authorization: `Bearer ${token}` }
  const { status, text, json } = await env.request(path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (status !== 200) throw new Error(`POST ${path} was answered ${status}: ${text}`)
  return json
}

async function source(): Promise<string> {
  return (await env.source()).id
}

async function destination(): Promise<string> {
  return (await post('/v2/destinations', { name: 'Hook', type: 'WEBHOOK', config: hook() })).destination.id
}

async function pair() {
  return { sourceId: await source(), destinationId: await destination() }
}

async function connection(): Promise<string> {
  return (await post('/v2/connections', await pair())).connection.id
}

function code() {
  return { name: `Code ${++made}`, code: 'export function transformEvent(event) { return event }' }
}

async function transformation(): Promise<string> {
  return (await post('/v2/transformations', code())).transformation.id
}

async function versionOfTransformation(): Promise<string> {
  const { id, versionId } = (await post('/v2/transformations', code())).transformation
  return `${id}/${versionId}`
}

async function library(): Promise<string> {
  return (await post('/v2/libraries', code())).library.id
}

async function versionOfLibrary(): Promise<string> {
  const { id, versionId } = (await post('/v2/libraries', code())).library
  return `${id}/${versionId}`
}

/** The last hour of a new connection. */
async function rangeOfLog() {
  const { sourceId, destinationId } = await pair()
  await post('/v2/connections', { sourceId, destinationId })
  const { logOldestAt } = (await env.api('GET', '/v2/admin/info')).json.info
  const to = new Date(Date.parse(logOldestAt) + 3_600_000).toISOString()
  return { sourceIds: [sourceId], destinationIds: [destinationId], from: logOldestAt, to }
}

/** An apply of what there is. */
async function configurationAsItIs() {
  const { document, revision } = (await env.api('GET', '/v2/config')).json
  return { document, revision }
}

async function credential(): Promise<string> {
  const key = `key-${++made}`
  await env.api('PUT', `/v2/credentials/${key}`, { value: 'v' })
  return key
}

async function deadLetter(): Promise<string> {
  const messageId = `m-refused-${++made}`
  await env.send('/v1/track', { messageId, userId: messageId, event: 'x' }, refusedWriteKey)
  await env.journey(messageId, 'dead_lettered')
  return (await env.api('GET', `/v2/dead-letters?messageId=${messageId}`)).json.deadLetters[0].id
}

async function replay(): Promise<string> {
  const { json } = await env.api('POST', '/v2/dead-letters/discard', { filter: { messageId: 'none' }, dryRun: true })
  return json.replayId
}

/** One that waits for its destination, which fails. */
async function waitingReplay(): Promise<string> {
  const id = await deadLetter()
  env.sink.answer = () => ({ status: 500 })
  const { replayId } = (await env.api('POST', `/v2/dead-letters/${id}/replay`)).json
  await env.journey(`m-refused-${made}`, 'retrying')
  env.sink.answer = () => ({ status: 400 })
  return replayId
}

async function pausedReplay(): Promise<string> {
  const id = await waitingReplay()
  await env.api('POST', `/v2/replays/${id}/pause`)
  return id
}

function newUser() {
  return { email: `user-${++made}@cinema.example`, role: 'viewer' }
}

async function user(): Promise<string> {
  return (await post('/v2/users', newUser())).user.id
}

async function accessToken(token: string): Promise<string> {
  return (await post('/v2/access-tokens', { name: 'ci', role: 'viewer' }, token)).accessToken.id
}

async function connectedSource(): Promise<string> {
  return (await env.webhook()).source.id
}

function tested() {
  return { stage: { user_transform: true }, message: { type: 'track', event: 'x' } }
}

function slack() {
  return { webhookUrl: 'https://hooks.slack.com/services/T0/B0/x' }
}

function hook() {
  return { webhookUrl: 'https://hooks.cinema.example/in' }
}
