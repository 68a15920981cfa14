import { LeaseLostError } from '@millrace/postgres'
import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { expect, test } from 'vitest'
import { deliveryTestSchema, openStore } from './testing/store-under-test.ts'

const MINUTE = 60_000
const SUBJECTS = [['destination', 'd1'] as const]
const row = (delivered: number, waiting: number) => ({
  ...{ kind: 'destination', id: 'd1', counts: [delivered, 0, 0, 0, 0], waiting, durations: [delivered] },
})
const reason = (count: number) => ({ destinationId: 'd1', outcome: 'filtered', reason: 'event filter', count })

test('processes add to the steps of 10 s and of 300 s; what waits is the sum of what each gave last', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('statistics'))
  await using one = await openStore(schema, { process: 'p1' })
  await using other = await openStore(schema, { process: 'p2' })
  for (const steps of ['shortStatistics', 'statistics'] as const) {
    const add = async (store: typeof one.store, at: number, delivered: number, waiting: number) => {
      const rows = [{ ...row(delivered, waiting), kind: 'destination' as const }]
      await store[steps].add({ at, rows, reasons: [reason(delivered)], lastEvents: [] })
    }
    await add(one.store, MINUTE, 3, 50)
    await add(other.store, MINUTE, 4, 7)
    await add(one.store, MINUTE, 1, 20)
    await add(other.store, 2 * MINUTE, 2, 5)
    for (const { store } of [one, other]) {
      const { known, rows } = await store[steps].read({ from: 0, to: 5 * MINUTE, subjects: SUBJECTS })
      expect(known).toEqual([MINUTE, 2 * MINUTE])
      expect(rows[0]).toMatchObject([
        { at: MINUTE, counts: [8, 0, 0, 0, 0], waiting: 27, durations: [8] },
        { at: 2 * MINUTE, counts: [2, 0, 0, 0, 0], waiting: 5, durations: [2] },
      ])
      expect(await store[steps].reasons({ from: MINUTE, to: 2 * MINUTE })).toEqual([reason(8)])
    }
  }
})

test('short steps stay an hour, long ones a week', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('old_statistics'))
  await using opened = await openStore(schema)
  const { store } = opened
  const times = [MINUTE, 2 * 60 * MINUTE, 8 * 24 * 60 * MINUTE, 8 * 24 * 60 * MINUTE + 30 * MINUTE]
  for (const at of times) {
    for (const steps of [store.shortStatistics, store.statistics]) {
      await steps.add({ at, rows: [{ ...row(1, 1), kind: 'destination' }], reasons: [reason(1)], lastEvents: [] })
    }
  }
  await store.tidy({ finalBefore: 0, logOldest: [], maxBytes: 1e9 })
  const kept = async (steps: typeof store.statistics) => {
    const range = { from: 0, to: 1e12, subjects: SUBJECTS }
    const { known, rows } = await steps.read(range)
    expect(rows[0]!.map(({ at }) => at)).toEqual(known)
    return [known, await steps.reasons(range)]
  }
  expect(await kept(store.shortStatistics)).toEqual([times.slice(2), [reason(2)]])
  expect(await kept(store.statistics)).toEqual([times.slice(2), [reason(2)]])
})

test('a process that lost the lease of housekeeping deletes nothing more', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('tidy_lease'))
  await using opened = await openStore(schema)
  const { store, pool } = opened
  await pool.query("INSERT INTO lease (kind, number, owner, epoch) VALUES ('housekeeping', 0, 'other', 4)")
  for (const at of [MINUTE, 8 * 24 * 60 * MINUTE]) {
    await store.statistics.add({ at, rows: [], reasons: [reason(1)], lastEvents: [] })
  }
  const request = { finalBefore: 0, logOldest: [], maxBytes: 1e9 }
  const lease = { kind: 'housekeeping', number: 0 }
  const kept = async () => (await store.statistics.reasons({ from: 0, to: 1e12 }))[0]!.count
  await expect(store.tidy(request, { ...lease, epoch: 3 })).rejects.toBeInstanceOf(LeaseLostError)
  expect(await kept()).toBe(2)
  await store.tidy(request, { ...lease, epoch: 4 })
  expect(await kept()).toBe(1)
})
