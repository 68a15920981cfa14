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

test('a failed attempt is followed as a retry, once; a wait that is written again without an attempt is none', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('recent_retries'))
  const clock = new ManualClock(NOW)
  await using opened = await openStore(schema, { clock })
  const { store } = opened
  const lane = laneOf(store, 'd1', 99)
  const recent = await store.recentOutcomes()
  const requests = (n: number, at: number) =>
    [
      {
        ...REQUEST,
        attempts: [{ n, at: new Date(at).toISOString(), durationMs: 40, status: 503, class: 'retry', text: '' }],
      },
    ] as const
  lane.journey(eventAt(1), wait(1, { at: NOW + 40, requests: requests(1, NOW) as never }))
  // One that waits behind it.
  lane.journey(eventAt(2), wait(2, { attempts: 0, requests: null }))
  await store.flush()
  expect(await recent.next()).toEqual([
    {
      ...{ destinationId: 'd1', partition: 0, offset: 1, index: 0, outcome: 'retrying', reason: null },
      ...{ isReplay: false, status: 503, durationMs: 40 },
    },
  ])
  expect(await recent.next()).toEqual([])

  await clock.advance(60_000)
  lane.journey(eventAt(1), wait(1, { at: clock.now(), requests: requests(1, NOW) as never }))
  await store.flush()
  expect(await recent.next()).toEqual([])
  lane.journey(eventAt(1), wait(1, { at: clock.now(), attempts: 2, requests: requests(2, clock.now() - 40) as never }))
  await store.flush()
  expect(await next(recent)).toEqual(['retrying 1'])
})

test('duplicates are followed from now on as they are decided, each once', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('recent_duplicates'))
  await using opened = await openStore(schema)
  const { store } = opened
  const decide = (partition: number, to: number, offsets: readonly number[]) => {
    const duplicates = offsets.map((offset) => ({ partition, offset, indexes: Uint8Array.of(1, 0, 3, 0) }))
    return store.duplicates.write([{ shard: partition, positions: [[partition, to]], duplicates, keys: [] }])
  }
  await decide(0, 5, [2])
  const recent = await store.recentDuplicates()
  expect(await recent.next()).toEqual([])
  await decide(0, 9, [5, 7])
  await decide(1, 1, [0])
  expect(await recent.next()).toEqual([
    { partition: 0, offset: 5, indexes: [1, 3] },
    { partition: 0, offset: 7, indexes: [1, 3] },
    { partition: 1, offset: 0, indexes: [1, 3] },
  ])
  await decide(0, 20, [])
  expect(await recent.next()).toEqual([])
})
