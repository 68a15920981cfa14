import type { PostgresPool } from '@millrace/postgres'
import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { expect, test } from 'vitest'
import { eventAt, laneOf, letter, NOW } from '../../conformance/store-place.ts'
import { deliveryTestSchema, openStore } from '../testing/store-under-test.ts'
import { OLDEST } from './expired-letters.ts'
import { IDS_OF_NUMBER } from './letter-rows.ts'

const OTHERS = 50_000

test('the oldest dead letters of few partitions are found without a look at those of the others', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('expired_letters'))
  await using opened = await openStore(schema)
  const { store, pool } = opened
  // The first dead letter gives the numbers of all names.
  laneOf(store, 'd1', 2).deadLetter(eventAt(1), letter(1))
  await store.flush()
  await pool.query(COPIES, [OTHERS, 2 * IDS_OF_NUMBER])
  await pool.query("SELECT setval('dead_letter_number', $1)", [OTHERS])
  // Of a range, too.
  const lane = laneOf(store, 'd1', 100)
  for (let offset = 20; offset < 40; offset++) lane.deadLetter(eventAt(offset), letter(offset, { attempts: 0 }))
  await store.flush()
  await pool.query('ANALYZE dead_letter')
  const [destination] = await pool.query<{ id: number }>('SELECT DISTINCT destination AS id FROM dead_letter')
  expect(await pagesRead(pool, [destination!.id, [0, 32]])).toBeLessThan(100)

  const request = { destinationId: 'd1', reason: 'budget', at: NOW }
  expect(await store.deadLetters.expire({ ...request, partitions: [0, 32], bytes: 1 })).toMatchObject({ count: 1 })
  expect(await store.deadLetters.expire({ ...request, partitions: [0, 32], bytes: 1e9 })).toMatchObject({ count: 20 })
  expect(await store.deadLetters.expire({ ...request, partitions: [0, 32], bytes: 1e9 })).toMatchObject({ count: 0 })
  expect(await store.deadLetters.expire({ ...request, partitions: [1], bytes: 1e9 })).toMatchObject({ count: 500 })
})

async function pagesRead(pool: PostgresPool, values: unknown[]): Promise<number> {
  const [row] = await pool.query<{ plan: unknown }>(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${OLDEST}`, values)
  const [{ Plan: plan }] = Object.values(row!)[0] as [{ Plan: Record<string, number> }]
  return plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!
}

/** Older ones of 31 other partitions. */
const COPIES = `
  INSERT INTO dead_letter (id, destination, source, partition, "offset", idx, state, stage, reason, accepted_at, dead_at, attempts,
    last_status, last_answer, revision, state_at, end_reason, replay, requests, wait, event)
  SELECT n + $2, destination, source, 1 + n % 31, n, idx, state, stage, reason, accepted_at, dead_at, attempts, last_status,
    last_answer, revision, state_at, end_reason, replay, requests, wait, event
  FROM dead_letter CROSS JOIN generate_series(1, $1::bigint) n`
