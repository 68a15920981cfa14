import { afterAll, beforeAll, expect, test } from 'vitest'
import { basic, DISABLED_KEY, GatewayUnderTest, KEY, OTHER_KEY } from '../gateway-under-test.ts'

/* Routes whose clients parse the answer: contracts/ingest.md §3. */

let under: GatewayUnderTest
beforeAll(async () => {
  under = await GatewayUnderTest.start()
})
afterAll(() => under[Symbol.asyncDispose]())

const EVENT = { anonymousId: 'a-5', properties: { hall: 'B' } }

test('every type is taken, with the key alone or with a secret after it, and the answer is JSON', async () => {
  for (const type of ['identify', 'track', 'page', 'screen', 'group', 'alias']) {
    for (const path of [`/api/s/${type}`, `/api/s/s2s/${type}`, `/api/s/${type}/`]) {
      for (const key of [KEY, `${KEY}:secret`, ` ${KEY}:s:t`]) {
        const from = under.end()
        const answer = await under.sendJson(path, EVENT, { 'X-Write-Key': key })
        expect([path, answer.status, answer.text]).toEqual([path, 200, '{"success":true}'])
        expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
        expect(await under.found(from)).toMatchObject([{ sourceId: 'source-1', event: { type, ...EVENT } }])
      }
    }
  }
})

test('X-Write-Key wins over the other places of a key, which count where it is missing', async () => {
  const cases: [headers: Record<string, string>, body: object, sourceId: string][] = [
    [{ ...basic(OTHER_KEY), 'X-Write-Key': KEY }, EVENT, 'source-1'],
    [basic(OTHER_KEY), EVENT, 'source-2'],
    [{}, { ...EVENT, writeKey: OTHER_KEY }, 'source-2'],
  ]
  for (const [headers, body, sourceId] of cases) {
    const from = under.end()
    expect((await under.sendJson('/api/s/track', body, headers)).status).toBe(200)
    expect(await under.found(from)).toMatchObject([{ sourceId }])
  }
})

test('a refusal is JSON with the status and text of every other route', async () => {
  const cases: [headers: Record<string, string>, body: unknown, status: number, error: string][] = [
    [{ 'X-Write-Key': 'nosuchkey:secret' }, EVENT, 401, 'Invalid Write Key'],
    [{ 'X-Write-Key': DISABLED_KEY }, EVENT, 404, 'Source is disabled'],
    [{}, EVENT, 401, 'Failed to read writeKey from header'],
    [{ 'X-Write-Key': KEY }, {}, 400, 'Request neither has anonymousId nor userId'],
    [{ 'X-Write-Key': KEY }, { anonymousId: 'a', properties: 'x'.repeat(40_000) }, 413, 'Event size exceeds max limit'],
  ]
  for (const [headers, body, status, error] of cases) {
    const answer = await under.sendJson('/api/s/track', body, headers)
    expect([answer.status, JSON.parse(answer.text)]).toEqual([status, { success: false, error }])
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  }
  const method = await under.send({ method: 'GET', path: '/api/s/track' })
  expect([method.status, method.headers['allow']]).toEqual([405, 'POST'])
  expect(JSON.parse(method.text)).toEqual({ success: false, error: 'Method Not Allowed' })
})

test('/v1/import answers in JSON, too: libraries for Java and Ruby send again what they cannot parse', async () => {
  const batch = [{ type: 'track', ...EVENT }]
  const taken = await under.sendJson('/v1/import', { batch })
  expect([taken.status, taken.text]).toEqual([200, '{"success":true}'])
  const refused = await under.sendJson('/v1/import/', { batch: [...batch, { type: 'track' }] })
  const error = 'Request neither has anonymousId nor userId'
  expect([refused.status, JSON.parse(refused.text)]).toEqual([400, { success: false, error }])
  expect(refused.headers['x-millrace-event-index']).toBe('1')
})

test('X-Write-Key is no credential of any other route', async () => {
  const answer = await under.sendJson('/v1/track', EVENT, { 'X-Write-Key': KEY })
  expect([answer.status, answer.text]).toEqual([401, 'Failed to read writeKey from header'])
})
