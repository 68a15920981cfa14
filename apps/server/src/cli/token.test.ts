import { ManualClock } from '@millrace/std'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AnsweringServer, run } from './command-under-test.ts'

const owner = {
  id: '3HKbh3KJUutcOg0TP3JBduW9TBn',
  name: 'Owner',
  role: 'admin',
  userId: '3Uu7afqT7PwuTNOQMc18wsjmObJ',
  email: 'ada@cinema.example',
  createdAt: '2026-03-01T09:05:00.000Z',
  expiresAt: null,
  lastUsedAt: '2026-03-04T09:15:00.000Z',
}
const ci = { ...owner, id: '3HKci3KJUutcOg0TP3JBduW9TBn', name: 'ci', role: 'viewer', lastUsedAt: null }
const twin = { ...ci, id: '3HKzz3KJUutcOg0TP3JBduW9TBn', name: 'twin', expiresAt: '2026-12-31T00:00:00.000Z' }
const made = { accessToken: ci, token: 'mr_pat_Zk3vN8qT1yWc5RbE7uJd0LfS2gHx6mPa9oVi4XeB' }
const firstPage = { accessTokens: [owner, ci, twin], paging: { total: 4, next: '/v2/access-tokens?page=2&limit=500' } }

let server: AnsweringServer
let env: Record<string, string>
beforeAll(async () => {
  server = await AnsweringServer.start({
    'GET /v2/access-tokens?limit=500': [200, firstPage],
    'GET /v2/access-tokens?page=2&limit=500': [
      200,
      { accessTokens: [{ ...twin, id: '3HKzy3KJUutcOg0TP3JBduW9TBn' }], paging: { total: 4, next: '' } },
    ],
    'GET /v2/access-tokens': [200, firstPage],
    'POST /v2/access-tokens': ({ body }) =>
      body.includes('"boss"') ? [400, { error: 'Unknown role boss', code: 'bad_request', details: null }] : [200, made],
    [`DELETE /v2/access-tokens/${ci.id}`]: [204, ''],
    [`DELETE /v2/access-tokens/${twin.id}`]: [204, ''],
  })
  env = { MILLRACE_URL: server.url, MILLRACE_TOKEN: 'token-of-ada' }
})
afterAll(() => server[Symbol.asyncDispose]())

const lastRequest = () => server.requests.at(-1)!

test('list shows a line for each token of every page, and no values', async () => {
  const { code, out, err } = await run(['token', 'list'], env)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(`\n${out}`).toBe(`
NAME   ROLE    USER                CREATED (UTC)     EXPIRES           LAST USED         ID
Owner  admin   ada@cinema.example  2026-03-01 09:05  never             2026-03-04 09:15  3HKbh3KJUutcOg0TP3JBduW9TBn
ci     viewer  ada@cinema.example  2026-03-01 09:05  never             never             3HKci3KJUutcOg0TP3JBduW9TBn
twin   viewer  ada@cinema.example  2026-03-01 09:05  2026-12-31 00:00  never             3HKzz3KJUutcOg0TP3JBduW9TBn
twin   viewer  ada@cinema.example  2026-03-01 09:05  2026-12-31 00:00  never             3HKzy3KJUutcOg0TP3JBduW9TBn
`)
})

test('create shows the value once; the role is the lowest unless it is said', async () => {
  const { code, out } = await run(['token', 'create', 'ci'], env)
  expect(code).toBe(0)
  expect(out).toBe(
    `created  ci, viewer, of ada@cinema.example, never expires\n  ${made.token}\nIt is shown only once.\n`,
  )
  expect(JSON.parse(lastRequest().body)).toEqual({ name: 'ci', role: 'viewer' })
})

test.each([
  ['90d', '2026-05-30T00:00:00.000Z'],
  ['2026-12-31T00:00:00+01:00', '2026-12-31T00:00:00+01:00'],
])('create --expires %s', async (when, expiresAt) => {
  const clock = new ManualClock(Date.parse('2026-03-01T00:00:00.000Z'))
  await run(['token', 'create', 'ci', '--role', 'editor', '--expires', when], env, { clock })
  expect(JSON.parse(lastRequest().body)).toEqual({ name: 'ci', role: 'editor', expiresAt })
})

test('revoke takes an id, or a name that only one has', async () => {
  expect(await run(['token', 'revoke', 'ci'], env)).toEqual({ code: 0, out: `revoked  ci (${ci.id})\n`, err: '' })
  expect(lastRequest()).toMatchObject({ method: 'DELETE', path: `/v2/access-tokens/${ci.id}` })
  expect((await run(['token', 'revoke', twin.id], env)).out).toBe(`revoked  twin (${twin.id})\n`)
})

test('the command that is advised names the server if the environment does not', async () => {
  const { err } = await run(['token', 'revoke', 'nope', '--url', server.url], { ...env, MILLRACE_URL: '' })
  expect(err).toContain(`List tokens with: npm run millrace -- token list --url ${server.url}\n`)
})

test('--json prints the answers of the routes', async () => {
  expect(JSON.parse((await run(['token', 'list', '--json'], env)).out)).toEqual(firstPage)
  expect(JSON.parse((await run(['token', 'create', 'ci', '--json'], env)).out)).toEqual(made)
  expect((await run(['token', 'revoke', 'ci', '--json'], env)).out).toBe('')
})

test.each<[words: string[], code: number, err: string]>([
  [['create', 'x', '--role', 'boss'], 1, ' answered 400 Unknown role boss\n'],
  [['create', 'x', '--expires', 'soon'], 64, '"soon" is not a time or a number of days such as 90d.'],
  [['create', 'x', '--expires', '0d'], 64, '--expires takes 1d to 36500d.'],
  [['create'], 64, "missing required argument 'name'"],
  [['revoke', 'twin'], 1, '2 tokens are named "twin".\nUse its id'],
  [['revoke', 'nope'], 1, 'No token "nope" at http://127.0.0.1:'],
  [['revoke', 'nope'], 1, '\nList tokens with: npm run millrace -- token list\n'],
])('token %j ends with %i: %s', async (words, code, err) => {
  const before = server.requests.length
  const result = await run(['token', ...words], env)
  expect(result).toMatchObject({ code, out: '' })
  expect(result.err).toContain(err)
  expect(server.requests.slice(before).filter(({ method }) => method === 'DELETE')).toEqual([])
})
