import { expect, test } from 'vitest'
import { basic, GatewayUnderTest, KEY, OTHER_KEY } from './gateway-under-test.ts'

test('requests, events and refusals are counted, a batch by its events and a refused one not at all', async () => {
  await using under = await GatewayUnderTest.start()
  const track = { type: 'track', userId: 'u' }
  await under.sendJson('/v1/t', track)
  await under.sendJson('/v1/track', track, basic(OTHER_KEY))
  await under.sendJson('/v1/b', { batch: [track, track, { type: 'page', userId: 'u' }] })
  await under.sendJson('/v1/batch', { batch: [track, 5] })
  await under.sendJson('/v1/batch', { batch: [track, 5] })
  await under.send({ method: 'PUT', path: '/v1/batch' })
  await under.send({ method: 'GET', path: `/pixel/v1/page?writeKey=${KEY}`, headers: {} })
  const { metrics } = under.gateway
  expect(Object.fromEntries([...metrics.requests].map(([path, counts]) => [path, Object.fromEntries(counts)]))).toEqual(
    {
      '/v1/track': { 200: 2 },
      '/v1/batch': { 200: 1, 400: 2, 405: 1 },
      '/pixel/v1/page': { 200: 1 },
    },
  )
  expect([...metrics.events()]).toEqual([
    { sourceId: 'source-1', type: 'track', count: 3 },
    { sourceId: 'source-1', type: 'page', count: 1 },
    { sourceId: 'source-2', type: 'track', count: 1 },
  ])
  expect(Object.fromEntries(metrics.rejected)).toEqual({ invalid_event: 2, method: 1, no_ids: 1 })
})
