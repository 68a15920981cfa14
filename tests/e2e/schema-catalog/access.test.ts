import type { DevEnv } from '@millrace/dev-env'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sendRaw } from '../raw-http.ts'
import { ADMIN, basic, openEnv, PASSWORD, SchemaApi } from './schema-api.ts'

const MISSING = '{"msg":"Basic auth credentials missing"}\n'
const WRONG = '{"msg":"Invalid admin credentials"}\n'
const UNKNOWN = '00000000-0000-4000-8000-000000000000'
const PATHS = [
  '/schemas/event-models',
  '/schemas/event-versions?EventID=x',
  '/schemas/event-model/x/metadata',
  '/schemas/event-version/x/metadata',
  '/schemas/event-model/x/key-counts',
  '/schemas/event-version/x/missing-keys',
  '/schemas/event-models/json-schemas',
  '/schemas/x/missing-keys',
  '/schemas/status',
]

let env: DevEnv
let api: SchemaApi
beforeAll(async () => {
  env = await openEnv()
  api = new SchemaApi(env)
})
afterAll(() => env[Symbol.asyncDispose]())

const ask = (path: string, authorization?: string, method = 'GET') =>
  env.request(path, { method, headers: authorization === undefined ? {} : { Authorization: authorization } })

describe('2: credentials that are not good', () => {
  const rows: [string, string | undefined, string][] = [
    ['none', undefined, MISSING],
    ['no base64', 'Basic !!!', MISSING],
    ['no colon', `Basic ${Buffer.from('admin').toString('base64')}`, MISSING],
    ['another scheme', 'Digest x', MISSING],
    ['a bearer without a token', 'Bearer', MISSING],
    ['right user, wrong password', basic('admin', 'x'), WRONG],
    ['right password, wrong user', basic('root', PASSWORD), WRONG],
    ['both empty', basic('', ''), WRONG],
    ['a longer password', basic('admin', `${PASSWORD}x`), WRONG],
    ['a prefix of the password', basic('admin', PASSWORD.slice(0, -1)), WRONG],
    ['a password of 10,000 characters', basic('admin', 'x'.repeat(10_000)), WRONG],
    ['another letter case', basic('Admin', PASSWORD), WRONG],
    ['an unknown token', 'Bearer mr_pat_unknown', WRONG],
  ]
  test.each(rows)('%s', async (_name, authorization, text) => {
    for (const path of PATHS) {
      const answer = await ask(path, authorization)
      expect([path, answer.status, answer.text]).toEqual([path, 400, text])
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    }
  })
})

test('a personal access token of any role is as good', async () => {
  const { json } = await env.api('POST', '/v2/access-tokens', { name: 'viewer', role: 'viewer' })
  expect((await ask('/schemas/event-models', `Bearer ${json.token}`)).status).toBe(200)
  await env.api('DELETE', `/v2/access-tokens/${json.accessToken.id}`)
  expect((await ask('/schemas/event-models', `Bearer ${json.token}`)).text).toBe(WRONG)
})

describe('3: every row of statuses and errors', () => {
  const quoted = (text: string) => `{"msg":${JSON.stringify(text)}}\n`
  const injection = "x' OR '1'='1"
  const long = 'i'.repeat(10_000)
  const noMetadata = 'No Metadata found for given'
  const rows: [string, number, string][] = [
    ['/schemas/event-models?WriteKey=unknown', 200, '[]'],
    ['/schemas/event-versions', 400, quoted('Mandatory field: EventID missing')],
    ['/schemas/event-versions?EventID=', 200, '[]'],
    [`/schemas/event-versions?EventID=${UNKNOWN}`, 200, '[]'],
    [`/schemas/event-model/${UNKNOWN}/metadata`, 404, quoted(`${noMetadata} EventID : ${UNKNOWN}`)],
    [`/schemas/event-version/${UNKNOWN}/metadata`, 404, quoted(`${noMetadata} VersionID : ${UNKNOWN}`)],
    [`/schemas/event-model/${UNKNOWN}/key-counts`, 200, '{}'],
    [
      `/schemas/event-version/${UNKNOWN}/missing-keys`,
      404,
      quoted(`No SchemaVersion found for given VersionID : ${UNKNOWN}`),
    ],
    [`/schemas/${UNKNOWN}/missing-keys`, 404, quoted(`No SchemaVersion found for given VersionID : ${UNKNOWN}`)],
    [
      '/schemas/event-models/json-schemas?WriteKey=unknown',
      404,
      quoted('No event models exists to create a tracking plan.'),
    ],
    ['/schemas/event-model//metadata', 404, quoted('Not Found')],
    ['/schemas/', 404, quoted('Not Found')],
    ['/schemas/changes', 404, quoted('Not Found')],
    ['/schemas/constructor', 404, quoted('Not Found')],
    ['/schemas/__proto__', 404, quoted('Not Found')],
    ['/schemas/toString', 404, quoted('Not Found')],
    ['/schemas/event-models/', 404, quoted('Not Found')],
    ['/schemas/event-model/a%2Fb/metadata', 404, quoted(`${noMetadata} EventID : a/b`)],
    ['/schemas/event-model/%zz/metadata', 400, quoted('Invalid request path')],
    [
      `/schemas/event-model/${encodeURIComponent(injection)}/metadata`,
      404,
      quoted(`${noMetadata} EventID : ${injection}`),
    ],
    [`/schemas/event-model/${encodeURIComponent(injection)}/key-counts`, 200, '{}'],
    [`/schemas/event-version/100%25/metadata`, 404, quoted(`${noMetadata} VersionID : 100%`)],
    [`/schemas/event-version/${long}/metadata`, 404, quoted(`${noMetadata} VersionID : ${long.slice(0, 200)}`)],
    ['/schemas/event-models?limit=0', 400, quoted('Invalid limit')],
    ['/schemas/event-models?limit=1001', 400, quoted('Invalid limit')],
    ['/schemas/event-models?offset=-1', 400, quoted('Invalid offset')],
  ]
  test.each(rows)('%s', async (path, status, text) => {
    const answer = await api.get(path)
    expect([answer.status, answer.text]).toEqual([status, text])
    const head = await ask(path, ADMIN, 'HEAD')
    expect([head.status, head.text]).toEqual([status, ''])
  })

  test('any other method is refused before credentials are looked at', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await ask('/schemas/event-models', undefined, method)
      expect([method, answer.status, answer.text]).toEqual([
        method,
        405,
        '{"msg":"Only HTTP GET method is supported"}\n',
      ])
      expect(answer.headers.get('allow')).toBe('GET, HEAD')
    }
    expect((await ask('/schemas/nothing', undefined, 'POST')).status).toBe(404)
  })

  test('a body is ignored', async () => {
    const head = `GET /schemas/event-models?WriteKey=none HTTP/1.1\r\nHost: x\r\nAuthorization: ${ADMIN}\r\n`
    const answer = await sendRaw(env.url, `${head}Content-Length: 5\r\nConnection: close\r\n\r\nhello`)
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  })

  test('ids are compared without letter case; the first of two write keys counts; an id of the other kind is unknown', async () => {
    const { writeKey } = await env.source()
    await env.send('/v1/track', { userId: 'u', event: 'Cased' }, writeKey)
    const [model] = await api.counted(writeKey, 1)
    const [version] = await api.versions(model!)
    expect((await api.get(`/schemas/event-model/${model!.EventID.toUpperCase()}/metadata`)).status).toBe(200)
    expect(await api.versions({ EventID: model!.EventID.toUpperCase() })).toEqual([version])
    expect((await api.get(`/schemas/event-models?WriteKey=${writeKey}&WriteKey=none`)).json).toEqual([model])
    expect((await api.get(`/schemas/event-models?WriteKey=none&WriteKey=${writeKey}`)).json).toEqual([])
    expect((await api.get(`/schemas/event-version/${model!.EventID}/metadata`)).status).toBe(404)
    expect((await api.get(`/schemas/event-model/${version!.VersionID}/metadata`)).status).toBe(404)
    const all = await api.get('/schemas/event-models?WriteKey=')
    expect(all.json).toContainEqual(model)
  })

  test('limit and offset cut the lists', async () => {
    const { writeKey } = await env.source()
    const batch = Array.from({ length: 7 }, (_, i) => ({ type: 'track', userId: 'u', event: `Paged ${i}` }))
    await env.send('/v1/batch', { batch }, writeKey)
    const models = await api.counted(writeKey, 7)
    const part = await api.get(`/schemas/event-models?WriteKey=${writeKey}&limit=3&offset=2`)
    expect(part.json).toEqual(models.slice(2, 5))
    const extras = await api.get(`/schemas/event-models?WriteKey=${writeKey}&limit=1&extras=true`)
    expect(extras.json).toEqual([{ ...models[0], VersionCount: 1, UnversionedCount: 0, CutKeys: 0 }])
  })
})
