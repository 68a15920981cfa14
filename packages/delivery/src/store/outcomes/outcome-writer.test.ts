import { ManualClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { LaneEvent } from '../../lane/queue/lane-event.ts'
import type { Flush } from './flush.ts'
import { OutcomeWriter } from './outcome-writer.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')
const PARTITIONS = [...Array(16).keys()]

/** A writer over a store that keeps each flush that it is given. */
function writerOf(writers = 1) {
  const flushes: Flush[] = []
  const writer = new OutcomeWriter({
    write: async (flush) => {
      flushes.push(flush)
      return { kind: 'written' }
    },
    writers,
    clock: new ManualClock(NOW),
    logger: { error: () => {}, info: () => {} },
  })
  return { writer, flushes }
}

function eventOf(offset: number): LaneEvent {
  const place = { partition: 0, stream: 0, offset, index: 0 }
  const facts = { sourceId: 's', acceptedAt: NOW, sizeBytes: 1, userKey: 0, anonymousKey: 0 }
  return new LaneEvent(place, facts as never, undefined)
}

test('a flush writes the positions that changed since the flush before', async () => {
  const { writer, flushes } = writerOf()
  const outcomes = writer.outcomesOf('d1')
  const offsets = PARTITIONS.map(() => 5)
  outcomes.positions = () =>
    PARTITIONS.flatMap((partition) =>
      [0, 1].map((stream) => ({ partition, stream, position: { offset: offsets[partition]!, index: 0 } })),
    )
  outcomes.moved()
  await writer.flush()
  expect(flushes.at(-1)!.positions).toHaveLength(32)

  offsets[3] = 6
  outcomes.moved()
  await writer.flush()
  const moved = { reader: 'd1', partition: 3, position: { offset: 6, index: 0 } }
  expect(flushes.at(-1)!.positions).toEqual([
    { ...moved, stream: 0 },
    { ...moved, stream: 1 },
  ])

  // A change of the configuration may move a position back.
  offsets[3] = 5
  outcomes.moved()
  await writer.flush()
  expect(flushes.at(-1)!.positions).toMatchObject([{ position: { offset: 5 } }, { position: { offset: 5 } }])
})

test.each([
  [1, 1_000],
  [4, 250],
  [16, 62],
])('with %i writers each writes after %i outcomes, so that a crash repeats at most 1,000 of them', async (...row) => {
  const [writers, most] = row
  const { writer, flushes } = writerOf(writers)
  const outcomes = writer.outcomesOf('d1')
  expect(outcomes.maxUnwritten).toBe(most)
  for (let offset = 1; offset < most; offset++) outcomes.delivered(eventOf(offset), 200, 1, NOW, 1)
  expect(flushes).toHaveLength(0)
  outcomes.delivered(eventOf(most), 200, 1, NOW, 1)
  expect(flushes).toHaveLength(1)
  await writer.flush()
  expect(outcomes.unwritten).toBe(0)
})

test('the lanes of a destination together leave at most 1,000 outcomes unwritten, and a flush of one wakes the others', async () => {
  const { writer } = writerOf(1)
  const [busy, idle, other] = [writer.outcomesOf('d1'), writer.outcomesOf('d1'), writer.outcomesOf('d2')]
  let woken = 0
  idle.onPersisted = () => woken++
  for (let offset = 1; offset <= 1_000; offset++) {
    expect(idle.hasRoom()).toBe(true)
    busy.delivered(eventOf(offset), 200, 1, NOW, 1)
  }
  expect([busy.hasRoom(), idle.hasRoom(), other.hasRoom()]).toEqual([false, false, true])
  await writer.flush()
  expect(woken).toBe(1)
  expect([busy.hasRoom(), idle.hasRoom()]).toEqual([true, true])
})

test('only one flush runs at a time, also when a caller asks for one while outcomes arrive', async () => {
  const clock = new ManualClock(NOW)
  const underWay: (() => void)[] = []
  const writer = new OutcomeWriter({
    write: async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      underWay.push(resolve)
      await promise
      return { kind: 'written' }
    },
    clock,
    logger: { error: () => {}, info: () => {} },
  })
  const outcomes = writer.outcomesOf('d1')
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
  let offset = 0
  const deliver = () => outcomes.delivered(eventOf(++offset), 200, 1, NOW, 1)
  deliver()
  await clock.advance(100, settled)
  const asked = writer.flush()
  deliver()
  for (let round = 0; round < 3; round++) {
    expect(underWay).toHaveLength(1)
    underWay.shift()!()
    await settled()
    deliver()
    await clock.advance(100, settled)
  }
  await asked
  expect(underWay).toHaveLength(1)
})
