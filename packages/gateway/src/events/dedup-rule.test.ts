import { expect, test } from 'vitest'
import { GatewayUnderTest, KEY } from '../gateway-under-test.ts'

test.each([
  ['/v1/batch', 1],
  ['/v1/b', 1],
  [`/beacon/v1/batch?writeKey=${KEY}`, 1],
  [`/s/v1/batch?writeKey=${KEY}`, 1],
  ['/v1/import', 2],
  ['/v1/backfill', 2],
])('events sent to %s with `exit` and again with `repeat` are counted %i times', async (path, accepted) => {
  await using under = await GatewayUnderTest.start()
  const batch = [{ type: 'track', userId: 'u', messageId: 'm' }]
  for (const attempt of ['exit', 'repeat']) {
    expect((await under.sendJson(path, { attempt, batch })).status).toBe(200)
  }
  expect(under.gateway.metrics.sources().toArray()).toMatchObject([{ accepted }])
})
