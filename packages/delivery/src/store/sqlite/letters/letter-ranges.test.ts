import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ManualClock } from '@millrace/std'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { giveUp, manyGiven } from '../../conformance/letter-model.ts'
import { NOW } from '../../conformance/store-place.ts'
import { SqliteDeliveryStore } from '../sqlite-delivery-store.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'millrace-delivery-'))
  file = path.join(folder, 'delivery.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const openStore = () =>
  SqliteDeliveryStore.open({ file, clock: new ManualClock(NOW), logger: { info() {}, error() {} } })

function rows(sql: string): Record<string, unknown>[] {
  using db = new DatabaseSync(file, { readOnly: true })
  return db.prepare(sql).all()
}

test('10,000 that were given up for one reason are some ranges, smaller than their events', async () => {
  await using store = await disposable()
  await giveUp(store, manyGiven(10_000))
  expect(rows('SELECT count(*) AS rows FROM dead_letters')).toEqual([{ rows: 0 }])
  expect(rows('SELECT count(*) AS ranges, sum(letters) AS letters FROM letter_ranges')).toEqual([
    { ranges: 40, letters: 10_000 },
  ])
  const [{ packed, events }] = rows(
    'SELECT sum(packed_bytes) AS packed, sum(event_bytes) AS events FROM letter_ranges',
  ) as [{ packed: number; events: number }]
  expect(packed).toBeLessThan(events / 2)
})

test('a few, those with attempts of their own, and large ones are not packed together', async () => {
  await using store = await disposable()
  await giveUp(store, manyGiven(15))
  await giveUp(store, manyGiven(100, { attempts: 3 }))
  await giveUp(
    store,
    manyGiven(20, { bytes: 30_000 }).map((each) => ({ ...each, offset: each.offset + 1_000 })),
  )
  expect(rows('SELECT count(*) AS rows FROM dead_letters')).toEqual([{ rows: 118 }])
  expect(rows('SELECT letters FROM letter_ranges')).toEqual([{ letters: 17 }])
})

test('a range leaves with its last letter, and letters that end with their destination get no row', async () => {
  await using store = await disposable()
  await giveUp(store, [...manyGiven(50), ...manyGiven(50, { destinationId: 'd2' })])
  await store.deadLetters.expire({ destinationId: 'd1', partitions: [0], bytes: 1e9, reason: 'budget', at: NOW })
  expect(rows('SELECT letters FROM letter_ranges')).toEqual([{ letters: 50 }])
  expect(rows('SELECT count(*) AS ranges FROM range_letters')).toEqual([{ ranges: 1 }])
  await store.outcomes.discard({
    scope: { destinationId: 'd2' },
    partitions: [0],
    ranges: [],
    reason: 'destination was removed',
    at: NOW,
  })
  expect(rows('SELECT count(*) AS rows FROM dead_letters')).toEqual([{ rows: 0 }])
})

async function disposable() {
  const store = await openStore()
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() })
}
