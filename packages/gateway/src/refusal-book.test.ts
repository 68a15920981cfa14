import { ManualClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { basic, DISABLED_KEY, GatewayUnderTest, KEY } from './gateway-under-test.ts'

const AT = Date.parse('2026-03-04T09:15:31.900Z')

test('a refused request is known without its payload, newest first', async () => {
  await using under = await GatewayUnderTest.start({ clock: new ManualClock(AT) })
  const body = JSON.stringify({ userId: 'canary' })
  const headers = { 'User-Agent': 'curl/8.12.1', 'X-Forwarded-For': '203.0.113.9' }
  await under.send({ body, headers: { ...headers, ...basic('9zzzUnknown') } })
  await under.send({ body: '{"event":"canary"}', path: '/v1/batch' })
  await under.send({ body, headers: basic(DISABLED_KEY) })
  await under.send({ body, headers: {} })
  await under.send({ body })
  const known = under.gateway.refusals.list()
  const refused = { at: AT, route: '/v1/track', address: '127.0.0.1', userAgent: '', bytes: body.length }
  expect(known).toEqual([
    { ...refused, status: 401, text: 'Failed to read writeKey from header', sourceId: null, keyStart: '' },
    { ...refused, status: 404, text: 'Source is disabled', sourceId: 'source-3', keyStart: DISABLED_KEY.slice(0, 4) },
    {
      ...refused,
      route: '/v1/batch',
      status: 400,
      text: 'Empty batch payload',
      sourceId: 'source-1',
      keyStart: KEY.slice(0, 4),
      bytes: 18,
    },
    {
      ...refused,
      status: 401,
      text: 'Invalid Write Key',
      sourceId: null,
      keyStart: '9zzz',
      address: '203.0.113.9',
      userAgent: 'curl/8.12.1',
    },
  ])
  expect(JSON.stringify(known)).not.toContain('canary')
})

test('a pixel that is refused is known by its reason, though the picture is answered 200', async () => {
  await using under = await GatewayUnderTest.start()
  const path = `/pixel/v1/page?writeKey=${KEY}`
  expect((await under.send({ method: 'GET', path, headers: {} })).status).toBe(200)
  expect(under.gateway.refusals.list('source-1')).toMatchObject([
    { route: '/pixel/v1/page', status: 400, text: 'Request neither has anonymousId nor userId', bytes: 0 },
  ])
})

test('the last 1,000 are kept, by source where one is asked for', async () => {
  await using under = await GatewayUnderTest.start()
  const { refusals } = under.gateway
  for (let n = 0; n < 1_003; n++) {
    const sourceId = n % 2 === 0 ? 'even' : null
    const request = { at: n, route: '/v1/track', status: 400, text: '', address: '', bytes: 0 }
    refusals.note({ ...request, sourceId, writeKey: 'abcdef', userAgent: 'x'.repeat(5_000) })
  }
  const known = refusals.list()
  expect(known.map(({ at }) => at)).toEqual(Array.from({ length: 1_000 }, (_, n) => 1_002 - n))
  expect(known[0]).toMatchObject({ keyStart: 'abcd', userAgent: 'x'.repeat(200) })
  expect(refusals.after(1_001).refusals.map(({ at }) => at)).toEqual([1_001, 1_002])
  expect(refusals.after(0)).toMatchObject({ count: 1_003, refusals: { length: 1_000, 0: { at: 3 } } })
  expect(refusals.after(1_003)).toEqual({ count: 1_003, refusals: [] })
  expect(refusals.list('even')).toHaveLength(500)
  expect(refusals.list('other')).toEqual([])
})
