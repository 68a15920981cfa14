import { expect, test } from 'vitest'
import { Uncounted } from './uncounted.ts'

/** Partitions 0 and 1 hold live events, 2 and 3 backfills. */
function uncounted(ends: readonly number[]): Uncounted {
  return new Uncounted({ partitions: 4, homes: 2, end: (partition) => ends[partition]! }, [])
}

test('live partitions take turns, and backfills wait for them', () => {
  const places = uncounted([2, 2, 1, 0])
  const order: (number | undefined)[] = []
  for (let n = 0; n < 6; n++) {
    const partition = places.next(0)
    order.push(partition)
    if (partition !== undefined) places.counted(partition, places.position(partition) + 1)
  }
  expect(order).toEqual([0, 1, 0, 1, 2, undefined])
})

test('a partition that cannot be read rests for a second while the others go on', () => {
  const places = uncounted([5, 5, 0, 0])
  places.failed(0, 'no leader', 0)
  expect([places.next(10), places.next(20)]).toEqual([1, 1])
  places.failed(0, 'no leader', 999)
  expect(places.trouble()).toMatchObject({ partition: 0, cause: 'no leader', since: 0 })
  // A question does not wait for it.
  places.counted(1, 5)
  expect([places.next(1_500), places.isPast([5, 5, 0, 0])]).toEqual([undefined, true])
  expect(places.next(1_999)).toBe(0)
  places.counted(0, 5)
  expect([places.trouble(), places.next(3_000)]).toEqual([undefined, undefined])
})

test('a partition whose records are not decided yet is looked at again soon, and a question waits for it', () => {
  const places = uncounted([5, 0, 0, 0])
  places.defer(0, 0)
  expect([places.next(50), places.deferredMs(50), places.isPast([5, 0, 0, 0])]).toEqual([undefined, 50, false])
  expect(places.next(100)).toBe(0)
  places.counted(0, 5)
  expect([places.isPast([5, 0, 0, 0]), places.deferredMs(200)]).toEqual([true, Number.POSITIVE_INFINITY])
})
