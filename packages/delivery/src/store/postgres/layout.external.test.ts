import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { ManualClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { eventAt, laneOf, letter, NOW, recordedAt, wait } from '../conformance/store-place.ts'
import { DAY_MS, dayOf } from './day-tables.ts'
import { deliveryTestSchema, openStore } from './testing/store-under-test.ts'

test('an event delivered at once takes 20 bytes of a block, and small blocks grow', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('blocks'))
  await using opened = await openStore(schema, { clock: new ManualClock(NOW) })
  const { store, pool } = opened
  const outcomes = laneOf(store, 'd1', 200)
  for (let offset = 0; offset < 120; offset++) {
    outcomes.delivered(eventAt(offset), 200, 1, NOW, 57)
    await store.flush()
  }
  const blocks = await pool.query(
    'SELECT octet_length(entries) AS bytes, first_offset, last_offset FROM block ORDER BY number',
  )
  expect(blocks).toEqual([
    { bytes: 1_000, first_offset: 0, last_offset: 49 },
    { bytes: 1_000, first_offset: 50, last_offset: 99 },
    { bytes: 400, first_offset: 100, last_offset: 119 },
  ])
})

test('positions that did not move are not written again', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('positions'))
  await using opened = await openStore(schema)
  const { store, pool } = opened
  const outcomes = laneOf(store, 'd1', 7)
  const writer = async () => (await pool.query<{ xmin: string }>('SELECT xmin::text FROM position'))[0]
  outcomes.delivered(eventAt(1), 200, 1, NOW, 1)
  await store.flush()
  const before = await writer()
  outcomes.delivered(eventAt(2), 200, 1, NOW, 1)
  await store.flush()
  expect(await writer()).toEqual(before)
  outcomes.positions = () => [{ partition: 0, stream: 0, position: { offset: 8, index: 0 } }]
  outcomes.moved()
  await store.flush()
  expect(await writer()).not.toEqual(before)
})

test('10,000 dead letters of one reason are 40 rows', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('ranges'))
  await using opened = await openStore(schema)
  const { store, pool } = opened
  const outcomes = laneOf(store, 'd1', 1)
  const padding = 'x'.repeat(300)
  for (let offset = 0; offset < 10_000; offset++) {
    const event = JSON.stringify({ messageId: `m-${offset}`, padding })
    outcomes.deadLetter(eventAt(offset), letter(offset, { attempts: 0, event }))
  }
  await store.flush()
  expect(await pool.query('SELECT count(*) FROM dead_letter')).toEqual([{ count: 0 }])
  const ranges = 'SELECT count(*), sum(letters)::bigint AS letters, sum(event_bytes)::bigint AS bytes FROM letter_range'
  const [row] = await pool.query<{ count: number; letters: number; bytes: number }>(ranges)
  expect(row).toMatchObject({ count: 40, letters: 10_000 })
  await pool.query('VACUUM letter_range')
  const [size] = await pool.query<{ bytes: number }>("SELECT pg_total_relation_size('letter_range') AS bytes")
  expect(size!.bytes).toBeLessThan(row!.bytes / 2)
})

test('a row that only the database refuses is found, and its event ends as a dead letter', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('refused'))
  await using opened = await openStore(schema)
  const { store, pool } = opened
  await pool.query('ALTER TABLE journey ADD CHECK (size_bytes <> 13)')
  const outcomes = laneOf(store, 'd1', 9)
  const event = JSON.stringify({ messageId: 'm' })
  outcomes.readAccepted = async (places) => places.map(() => ({ sourceId: 's1', acceptedAt: NOW, event }))
  outcomes.delivered(eventAt(1), 200, 1, NOW, 1)
  outcomes.journey(eventAt(2), wait(2, { sizeBytes: 13 }))
  outcomes.journey(eventAt(3), wait(3))
  outcomes.deadLetter(eventAt(4), letter(4))
  await store.flush()
  expect(await recordedAt(store, 1)).toMatchObject([['d1', { kind: 'plain' }]])
  expect(await recordedAt(store, 2)).toMatchObject([['d1', { kind: 'dead_letter', reason: 'Internal error' }]])
  expect(await recordedAt(store, 3)).toMatchObject([['d1', { kind: 'journey' }]])
  expect(await recordedAt(store, 4)).toMatchObject([['d1', { kind: 'dead_letter', reason: 'answered 400' }]])
  expect(await store.deadLetters.countOpen({})).toBe(2)
})

test('days leave when all traces are too large, oldest first; the present day stays, and writes go on', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('days'))
  const clock = new ManualClock(NOW)
  await using opened = await openStore(schema, { clock })
  const { store, pool } = opened
  const outcomes = laneOf(store, 'd1', 9)
  for (let day = 0; day < 4; day++) {
    outcomes.delivered(eventAt(day), 200, 1, clock.now(), 1)
    await store.flush()
    if (day < 3) await clock.advance(DAY_MS)
  }
  const days = async () =>
    (await pool.query<{ day: number }>('SELECT DISTINCT day FROM block ORDER BY day')).map(({ day }) => day)
  const today = dayOf(clock.now())
  const tidy = (maxBytes: number) => store.tidy({ finalBefore: 0, logOldest: [], maxBytes })
  await tidy(1e9)
  expect(await days()).toEqual([today - 3, today - 2, today - 1, today])
  expect(await store.outcomes.droppedUntil()).toBe(undefined)
  await tidy(1)
  expect(await days()).toEqual([today])
  expect(await store.outcomes.droppedUntil()).toBe(today * DAY_MS)
  // Another process removes the table that this one knows.
  await pool.query(`DROP TABLE block_${today}`)
  outcomes.delivered(eventAt(9), 200, 1, clock.now(), 1)
  await store.flush()
  expect((await recordedAt(store, 9)).length).toBe(1)
  expect(store.trouble()).toBe(undefined)
})

test('journeys that have ended leave when all traces are too large; waits stay', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('journeys'))
  await using opened = await openStore(schema)
  const { store } = opened
  const outcomes = laneOf(store, 'd1', 9)
  outcomes.journey(eventAt(1), wait(1, { outcome: 'delivered', at: NOW }))
  outcomes.journey(eventAt(2), wait(2))
  await store.flush()
  await store.tidy({ finalBefore: 0, logOldest: [], maxBytes: 0 })
  const found = await Promise.all([1, 2].map(async (offset) => (await recordedAt(store, offset)).length))
  expect(found).toEqual([0, 1])
  expect(await store.outcomes.droppedUntil()).toBe(NOW + 1)
})
