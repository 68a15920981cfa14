import { LeaseLostError, leaseSchema, migrate } from '@millrace/postgres'
import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { expect, test } from 'vitest'
import { LaneEvent } from '../../lane/queue/lane-event.ts'
import { eventAt, letter, NOW, wait } from '../conformance/store-place.ts'
import { KEPT } from './postgres-budget.ts'
import { deliverySchema } from './schema.ts'
import { deliveryTestSchema, HeldShards, openStore, setEpoch } from './testing/store-under-test.ts'

const facts = { sourceId: 's1', acceptedAt: NOW, sizeBytes: 10, userKey: 0, anonymousKey: 0 }
const LEASE = { kind: 'budget', number: 0, epoch: 1 }

async function opened(schema: TestSchema) {
  const fence = new HeldShards([
    [0, 1],
    [1, 1],
  ])
  const store = await openStore(schema, { fence })
  for (const shard of [0, 1]) await setEpoch(store.pool, shard, 1)
  await store.pool.query(`INSERT INTO lease (kind, number, owner, epoch) VALUES ('budget', 0, 'x', 1)`)
  return store
}

test('what destinations hold is their open dead letters, and kept records in proportion to their waiting events', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('budget'))
  await using under = await opened(schema)
  const { store } = under
  const event = new LaneEvent({ partition: 1, stream: 0, offset: 1, index: 0 }, facts, undefined)
  store.outcomesOf('d1').deadLetter(event, letter(1, { partition: 1, event: 'x'.repeat(500) }))
  await store.flush()
  const record = { stream: 0, sourceId: 's1', events: 1, duplicates: null }
  const records = [5, 6].map((offset) => ({ ...record, offset, bytes: Buffer.alloc(1_000) }))
  await store.backlog.keepRecords({ partition: 0, records })
  const waiting = (destinationId: string, events: number) => {
    return { destinationId, state: {}, waiting: [['s1', events]] as const }
  }
  await store.figures.write([{ shard: 0, destinations: [waiting('d1', 1), waiting('d2', 3)] }])
  const { used, held } = await store.budget.figures(4)
  const letterBytes = (await store.backlog.byDestination())[0]!.letterBytes
  expect(letterBytes).toBeGreaterThanOrEqual(500)
  expect(used).toBe(2_000 + letterBytes)
  expect(held.toSorted((a, b) => a.destinationId.localeCompare(b.destinationId) || a.shard - b.shard)).toEqual([
    { destinationId: 'd1', shard: 0, bytes: 500 },
    { destinationId: 'd1', shard: 1, bytes: letterBytes },
    { destinationId: 'd2', shard: 0, bytes: 1_500 },
  ])
})

test('kept records count for no destination whose waiting events all lie behind them', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('budget_behind'))
  await using under = await opened(schema)
  const { store } = under
  const record = { stream: 0, sourceId: 's1', events: 1, duplicates: null }
  await store.backlog.keepRecords({ partition: 0, records: [{ ...record, offset: 5, bytes: Buffer.alloc(1_000) }] })
  const reads = (destinationId: string, offset: number) => {
    const outcomes = store.outcomesOf(destinationId)
    outcomes.positions = () => [{ partition: 0, stream: 0, position: { offset, index: 0 } }]
    outcomes.filtered(eventAt(4), 'integrations', 1, 1)
    return outcomes
  }
  reads('untaken', 5)
  reads('retrying', 9).journey(eventAt(5), wait(5, { destinationId: 'retrying' }))
  reads('behind', 9).journey(eventAt(8), wait(8, { destinationId: 'behind' }))
  await store.flush()
  const destinations = ['untaken', 'retrying', 'behind'].map((destinationId) => {
    return { destinationId, state: {}, waiting: [['s1', 3]] as const }
  })
  await store.figures.write([{ shard: 0, destinations }])
  const { held } = await store.budget.figures(4)
  expect(held.toSorted((a, b) => a.destinationId.localeCompare(b.destinationId))).toEqual([
    { destinationId: 'retrying', shard: 0, bytes: 500 },
    { destinationId: 'untaken', shard: 0, bytes: 500 },
  ])
})

test('the size of the kept records is known without reading them, also of those that an earlier release writes', async () => {
  await using schema = await TestSchema.open('kept_total')
  await using pool = schema.pool()
  const before = deliverySchema.steps.findIndex(({ name }) => name === 'size of kept records')
  await migrate(pool, [leaseSchema, { ...deliverySchema, steps: deliverySchema.steps.slice(0, before) }])
  const keep = (from: number, to: number) =>
    pool.query(
      `INSERT INTO kept_record SELECT n % 2, n, 0, 1, 1, decode(repeat('ab', 100), 'hex') FROM generate_series($1::bigint, $2) n
       ON CONFLICT DO NOTHING`,
      [from, to],
    )
  await keep(1, 20_000)
  await migrate(pool, [deliverySchema])
  await keep(19_990, 20_004)
  await pool.query('DELETE FROM kept_record WHERE partition = 1 AND "offset" < 10000')
  await using under = await openStore(schema)
  expect((await under.store.budget.figures(4)).used).toBe(15_004 * 100)
  expect(await under.store.backlog.keptRanges()).toEqual([
    { partition: 0, from: 2, to: 20_005 },
    { partition: 1, from: 10_001, to: 20_004 },
  ])
  await pool.query('ANALYZE kept_record')
  const [row] = await pool.query<{ plan: unknown }>(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${KEPT}`, [4])
  const [{ Plan }] = Object.values(row!)[0] as [{ Plan: Record<string, number> }]
  expect(Plan['Shared Hit Blocks']! + Plan['Shared Read Blocks']!).toBeLessThan(20)
})

test('orders go to the owners of their shards, and end there; a holder that lost its lease gives none', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('budget_orders'))
  await using under = await opened(schema)
  const { store, pool } = under
  expect(await store.budget.state()).toBeUndefined()
  const state = { used: 9, maxBytes: 10, largest: 'd1', at: NOW }
  const orders = [
    { destinationId: 'd1', shard: 0, bytes: 5 },
    { destinationId: 'd1', shard: 1, bytes: 7 },
  ]
  await store.budget.decide(LEASE, state, orders)
  expect(await store.budget.state()).toEqual(state)
  expect(await store.budget.orders()).toEqual(orders)
  expect(await store.budget.orders([1])).toEqual([orders[1]])
  expect(await store.budget.begin({ ...orders[1]!, bytes: 6 }), 'the holder has replaced it').toBe(false)
  expect(await store.budget.begin(orders[1]!)).toBe(true)
  expect(await store.budget.orders([1])).toEqual([{ ...orders[1], bytes: 0 }])
  await store.budget.done(orders[1]!)
  expect(await store.budget.orders()).toEqual([orders[0]])
  await store.budget.decide(LEASE, state, undefined)
  expect(await store.budget.orders()).toEqual([orders[0]])
  await store.budget.decide(LEASE, state, [orders[1]!])
  expect(await store.budget.orders()).toEqual([orders[1]])
  await store.budget.decide(LEASE, state, [orders[0]!])
  await pool.query(`UPDATE lease SET epoch = 2 WHERE kind = 'budget'`)
  await expect(store.budget.decide(LEASE, { ...state, used: 1 }, orders)).rejects.toBeInstanceOf(LeaseLostError)
  expect([await store.budget.state(), await store.budget.orders()]).toEqual([state, [orders[0]]])
})
