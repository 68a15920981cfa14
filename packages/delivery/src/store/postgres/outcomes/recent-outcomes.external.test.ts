import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { ManualClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { eventAt, laneOf, letter, NOW, REQUEST, wait } from '../../conformance/store-place.ts'
import { deliveryTestSchema, openStore } from '../testing/store-under-test.ts'
import type { RecentOutcome, RecentOutcomes } from './recent-outcomes.ts'

const nameOf = ({ outcome, offset }: RecentOutcome) => `${outcome} ${offset}`
const next = async (recent: RecentOutcomes) => (await recent.next()).map(nameOf).toSorted()

test('the outcomes that any process writes are followed from now on, each once', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('recent'))
  const clock = new ManualClock(NOW)
  await using one = await openStore(schema, { process: 'p1', clock })
  await using other = await openStore(schema, { process: 'p2', clock })
  const [first, second] = [laneOf(one.store, 'd1', 99), laneOf(other.store, 'd2', 99)]
  const flush = () => Promise.all([one.store.flush(), other.store.flush()])
  first.delivered(eventAt(1), 200, 1, NOW, 1)
  first.deadLetter(eventAt(2), letter(2))
  first.journey(eventAt(3), wait(3, { outcome: 'delivered', at: NOW - 1 }))
  await flush()
  const recent = await one.store.recentOutcomes()
  expect(await next(recent)).toEqual([])

  // The block of the first one grows.
  first.delivered(eventAt(4), 204, 7, NOW - 60_000, 1)
  second.filtered(eventAt(5), 'event filter', NOW, 1)
  first.deadLetter(eventAt(6), letter(6))
  for (let offset = 20; offset < 40; offset++) second.deadLetter(eventAt(offset), letter(offset, { attempts: 0 }))
  const attempt = { n: 2, at: '', durationMs: 31, status: 201, class: 'delivered', text: '' } as const
  const requests = [{ ...REQUEST, attempts: [attempt] }]
  first.journey(eventAt(7), wait(7, { outcome: 'delivered', at: NOW + 1, requests }))
  first.journey(eventAt(8), wait(8))
  await flush()
  const found = await recent.next()
  const expected = ['dead_lettered 6', 'delivered 4', 'delivered 7', 'filtered 5']
  for (let offset = 20; offset < 40; offset++) expected.push(`dead_lettered ${offset}`)
  expect(found.map(nameOf).toSorted()).toEqual(expected.toSorted())
  const at = (offset: number) => found.find((each) => each.offset === offset)
  expect(at(4)).toEqual({
    ...{ destinationId: 'd1', partition: 0, offset: 4, index: 0, outcome: 'delivered', reason: null },
    ...{ isReplay: false, status: 204, durationMs: 7 },
  })
  expect(at(5)).toMatchObject({ destinationId: 'd2', outcome: 'filtered', reason: 'event filter' })
  expect(at(7)).toMatchObject({ status: 201, durationMs: 31 })
  expect(at(6)).toMatchObject({ outcome: 'dead_lettered', reason: 'answered 400', status: 400 })
  expect(await next(recent)).toEqual([])

  // A process that came later, and another day.
  await using third = await openStore(schema, { process: 'p3', clock })
  laneOf(third.store, 'd3', 9).delivered(eventAt(9), 200, 1, NOW, 1)
  await third.store.flush()
  expect(await next(recent)).toEqual(['delivered 9'])
  await clock.advance(24 * 3_600_000)
  first.delivered(eventAt(10), 200, 1, clock.now(), 1)
  await flush()
  expect(await next(recent)).toEqual(['delivered 10'])
})

test('what happens faster than it is read is left out, and later outcomes are seen', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('recent_many'))
  await using opened = await openStore(schema)
  const { store } = opened
  const lane = laneOf(store, 'd1', 1e6)
  const recent = await store.recentOutcomes()
  for (let offset = 0; offset < 5_000; offset++) lane.delivered(eventAt(offset), 200, 1, NOW, 1)
  await store.flush()
  const count = (await recent.next()).length
  expect(count).toBeGreaterThan(0)
  expect(count).toBeLessThan(5_000)
  lane.delivered(eventAt(9_000), 200, 1, NOW, 1)
  await store.flush()
  expect(await next(recent)).toEqual(['delivered 9000'])
})
