import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { expect, test } from 'vitest'
import { UNFINISHED_REPLAYS } from './letters/letter-changes.ts'
import { DECIDED_TO } from './postgres-duplicates.ts'
import { deliveryTestSchema, openStore } from './testing/store-under-test.ts'

test.each([
  ['where duplicates are decided', DECIDED_TO, ['duplicates']],
  ['names of unfinished jobs', UNFINISHED_REPLAYS, []],
])('%s are found without a look at all stored texts', async (_, sql, values) => {
  await using schema = await deliveryTestSchema(TestSchema.open('names'))
  await using under = await openStore(schema)
  const { store, pool } = under
  await store.duplicates.write([{ shard: 0, positions: [[0, 5]], duplicates: [], keys: [] }])
  expect(await store.duplicates.decidedTo()).toEqual(new Map([[0, 5]]))
  const job = { id: 'j1', kind: 'replay', isDryRun: false, ratePerSecond: 9, createdBy: 'x', at: 1 } as const
  await store.jobs.createOfLetters({ ...job, selection: { filter: {} }, destinationIds: [] })
  await store.jobs.takeLetters({ jobId: 'j1', destinationId: 'd1', partitions: [0], limit: 1, at: 1 })
  await pool.query(`INSERT INTO name (digest, name)
    SELECT decode(md5(n::text), 'hex'), 'TypeError: no seat for ' || md5(n::text) FROM generate_series(1, 20000) n`)
  await pool.query('ANALYZE name')
  expect(await pool.query(sql, values)).toHaveLength(1)
  const [row] = await pool.query<{ plan: unknown }>(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`, values)
  const [{ Plan }] = Object.values(row!)[0] as [{ Plan: Record<string, number> }]
  expect(Plan['Shared Hit Blocks']! + Plan['Shared Read Blocks']!).toBeLessThan(20)
})
