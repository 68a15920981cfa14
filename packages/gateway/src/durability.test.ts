import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SqliteEventLog } from '@millrace/log'
import { type Clock, ManualClock, systemClock } from '@millrace/std'
import { afterAll, expect, test } from 'vitest'
import { GatewayUnderTest, KEY } from './gateway-under-test.ts'

const root = mkdtempSync(join(tmpdir(), 'millrace-gateway-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const openLog = (name: string, clock: Clock = systemClock) =>
  SqliteEventLog.open({ directory: join(root, name), clock, cacheBytes: 0 })

test('after a restart every accepted event is there, in order, and exactly as it was seen before', async () => {
  let before: unknown
  {
    await using under = await GatewayUnderTest.start({ log: await openLog('restart') })
    for (let i = 0; i < 30; i++) {
      const batch = [1, 2, 3].map((n) => ({
        type: 'track',
        userId: ` ${i} `,
        event: `${i}-${n}`,
        messageId: n === 1 ? `m-${i}` : n,
      }))
      const path = i % 10 === 9 ? '/v1/backfill' : '/v1/batch'
      expect((await under.sendJson(path, { batch, sentAt: 'x' })).text).toBe('OK')
    }
    await under.send({ method: 'GET', path: `/pixel/v1/page?writeKey=${KEY}&userId=u`, headers: {} })
    before = await under.found()
  }
  await using under = await GatewayUnderTest.start({ log: await openLog('restart') })
  const after = await under.found()
  expect(after).toEqual(before)
  expect(after).toHaveLength(91)
  const live = after.filter(({ stream }) => stream === 'live').slice(0, -1)
  const wanted = Array.from({ length: 30 }, (_, i) => i).filter((i) => i % 10 !== 9)
  expect(live.map(({ event }) => event['event'])).toEqual(wanted.flatMap((i) => [1, 2, 3].map((n) => `${i}-${n}`)))
  // A number is no messageId: each such event got one of its own.
  expect(new Set(after.map(({ event }) => event.messageId)).size).toBe(91)
})

test('when the directory of the log is gone nothing is accepted any more', async () => {
  const directory = join(root, 'gone')
  const clock = new ManualClock(0)
  await using under = await GatewayUnderTest.start({ log: await openLog('gone', clock) })
  expect((await under.send({ body: '{"userId":"u"}' })).status).toBe(200)
  rmSync(directory, { recursive: true })
  await clock.advance(2_000)
  await expect(under.log.check()).rejects.toThrow('moved or deleted')
  const refused = await under.send({ body: '{"userId":"u"}' })
  expect([refused.status, refused.text, refused.headers['retry-after']]).toEqual([503, 'Service unavailable', '1'])
  const pixel = await under.send({ method: 'GET', path: `/pixel/v1/page?writeKey=${KEY}&userId=u`, headers: {} })
  expect([pixel.status, pixel.headers['content-type']]).toEqual([503, 'image/gif'])
})
