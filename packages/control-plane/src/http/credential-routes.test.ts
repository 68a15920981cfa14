import { expect, test } from 'vitest'
import { TestPlane } from '../testing/test-plane.ts'

const CANARY = 'canary-s3cret-of-geo'
const PATH = '/v2/credentials/geo_api'

test('a credential answers as the contract shows it: its key and time, never its value', async () => {
  await using plane = await TestPlane.open()
  const made = await plane.send('PUT', PATH, { body: { value: CANARY } })
  expect(made.status).toBe(200)
  const { credential } = made.body
  expect(Object.entries(credential)).toEqual([
    ['key', 'geo_api'],
    ['updatedAt', expect.stringMatching(/^2026-02-27T16:40:11\.\d{3}Z$/)],
  ])
  const list = await plane.send('GET', '/v2/credentials')
  expect(list.body).toEqual({ credentials: [credential], paging: { total: 1, next: '' } })
  const audit = await plane.send('GET', '/v2/audit-log')
  expect(made.text + list.text + audit.text + plane.logged.join()).not.toContain(CANARY)
})

test('user code finds the value of now, also after a restart; on disk it is sealed', async () => {
  await using plane = await TestPlane.open()
  await plane.ok('PUT', PATH, { value: 'first' })
  await plane.ok('PUT', PATH, { credential: { value: CANARY, key: 'ignored', updatedAt: 'ignored' } })
  expect(plane.plane.credentials.values().get('geo_api')).toBe(CANARY)
  expect(plane.stored()).not.toContain(CANARY)
  await plane.reopen()
  expect(plane.plane.credentials.values().get('geo_api')).toBe(CANARY)
  expect(plane.stored()).not.toContain(CANARY)
  expect((await plane.send('DELETE', PATH)).status).toBe(204)
  expect(plane.plane.credentials.values().get('geo_api')).toBeUndefined()
  expect((await plane.send('DELETE', PATH)).status).toBe(404)
  for (const name of ['constructor', '__proto__']) expect(plane.plane.credentials.values().get(name)).toBeUndefined()
})

test('the audit log says that a value changed, never what it is; the configuration revision stays', async () => {
  await using plane = await TestPlane.open()
  for (const value of [CANARY, `${CANARY}2`, `${CANARY}2`]) await plane.ok('PUT', PATH, { value })
  await plane.send('PUT', PATH, { body: {} })
  await plane.send('PUT', `/v2/credentials/${CANARY}`, { body: {} })
  await plane.send('DELETE', PATH)
  const { entries } = await plane.ok('GET', '/v2/audit-log?kind=credential')
  const secretChanged = [{ path: '/value', from: '********', to: '********', secretChanged: true }]
  const lines = entries.map((entry: Record<string, unknown>) => [
    entry['action'],
    entry['outcome'],
    entry['resourceId'],
    entry['diff'],
  ])
  expect(lines.reverse()).toEqual([
    ['create', 'ok', 'geo_api', []],
    ['update', 'ok', 'geo_api', secretChanged],
    ['update', 'ok', 'geo_api', []],
    ['update', 'bad_request', 'geo_api', []],
    // No such key is there: it may be a value in the wrong place.
    ['update', 'bad_request', null, []],
    ['delete', 'ok', 'geo_api', []],
  ])
  expect(plane.plane.snapshot().revision).toBe(0)
})

test('two writers cannot overwrite each other unseen', async () => {
  await using plane = await TestPlane.open()
  const put = (value: string, ifMatch: string) =>
    plane.send('PUT', PATH, { body: { value }, headers: { 'if-match': ifMatch } })
  expect((await put('early', '*')).status).toBe(412)
  const { headers } = await plane.send('PUT', PATH, { body: { value: 'one' } })
  const tag = headers['etag'] as string
  const both = await Promise.all([put('two', tag), put('three', tag)])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 412])
  const late = await plane.send('DELETE', PATH, { headers: { 'if-match': tag } })
  expect(late).toMatchObject({ status: 412, body: { error: 'Resource has changed' } })
})

test('a value of 16 KB is taken, and 1,000 keys', async () => {
  await using plane = await TestPlane.open()
  await plane.ok('PUT', `/v2/credentials/${'k'.repeat(64)}`, { value: 'é'.repeat(8_192) })
  const by = { actor: 'ada@cinema.example', tokenName: null, address: null, requestId: null }
  for (let n = 1; n < 1_000; n++) await plane.plane.credentials.put(by, `key-${n}`, { value: 'v' })
  const refused = await plane.send('PUT', '/v2/credentials/one-more', { body: { value: 'v' } })
  expect(refused).toMatchObject({ status: 409, body: { error: 'Too many credentials', code: 'conflict' } })
  await plane.ok('PUT', '/v2/credentials/key-7', { value: 'another' })
})

test.each<[string, string, string, object | undefined, number, string]>([
  ['no value', 'PUT', 'a', {}, 400, 'value is required'],
  ['an empty value', 'PUT', 'a', { value: '' }, 400, 'value is required'],
  ['a value that is no text', 'PUT', 'a', { value: 7 }, 400, 'value is required'],
  ['a value over 16 KB', 'PUT', 'a', { value: 'v'.repeat(16_385) }, 400, 'value is too long'],
  ['an unknown member', 'PUT', 'a', { value: 'v', colour: 1 }, 400, 'Unknown member: colour'],
  [
    'a key with a blank',
    'PUT',
    'a%20b',
    { value: 'v' },
    400,
    'key must have 1 to 64 characters A-Z, a-z, 0-9, _, ., -',
  ],
  [
    'a key of 65',
    'PUT',
    'k'.repeat(65),
    { value: 'v' },
    400,
    'key must have 1 to 64 characters A-Z, a-z, 0-9, _, ., -',
  ],
  [
    'a key with a line end',
    'PUT',
    'a%0A',
    { value: 'v' },
    400,
    'key must have 1 to 64 characters A-Z, a-z, 0-9, _, ., -',
  ],
  ['an unknown key', 'DELETE', 'a', undefined, 404, 'Credential with key a not found'],
])('%s is refused and changes nothing', async (_, method, key, body, status, error) => {
  await using plane = await TestPlane.open()
  const answer = await plane.send(method, `/v2/credentials/${key}`, { body })
  expect(answer).toMatchObject({ status, body: { error, details: null } })
  expect((await plane.ok('GET', '/v2/credentials')).credentials).toEqual([])
})
