import type { PostgresPool } from '@millrace/postgres'
import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { expect, test } from 'vitest'
import { eventAt, laneOf, letter, NOW, wait } from '../conformance/store-place.ts'
import { deliveryTestSchema, openStore } from './testing/store-under-test.ts'

const MOST = 5_000
const MANY = 12_000

/** A store with rows of `d1`: two waits, a dead letter and a range of dead letters, each of them copied many times. */
async function opened(schema: TestSchema) {
  const under = await openStore(schema)
  const { store, pool } = under
  const lane = laneOf(store, 'd1', 3)
  for (const offset of [1, 2]) lane.journey(eventAt(offset), wait(offset))
  lane.deadLetter(eventAt(3), letter(3))
  for (let offset = 10; offset < 30; offset++) lane.deadLetter(eventAt(offset), letter(offset, { attempts: 0 }))
  await store.flush()
  await copy(pool, 'journey', '"offset" = 2', '"offset"', '2 + n')
  await copy(pool, 'dead_letter', 'true', 'id', '1000000 + n')
  await copy(pool, 'letter_range', 'true', 'first', '10000000 + 256 * n')
  await pool.query('UPDATE dead_letter SET state = 1')
  await pool.query(`
    CREATE FUNCTION refuse_many() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF (SELECT count(*) FROM changed) > ${MOST} THEN RAISE 'too many rows of % in one statement', TG_TABLE_NAME; END IF;
      RETURN NULL;
    END $$`)
  for (const [table, change] of [
    ['journey', 'DELETE'],
    ['dead_letter', 'UPDATE'],
    ['letter_range', 'UPDATE'],
  ]) {
    await pool.query(`CREATE TRIGGER few AFTER ${change} ON ${table} REFERENCING OLD TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_many()`)
  }
  return under
}

/** Copies the rows of a condition; one column of the copies gets another value. */
async function copy(pool: PostgresPool, table: string, where: string, column: string, value: string): Promise<void> {
  const columns = await pool.query<{ name: string }>(
    `SELECT quote_ident(column_name) AS name FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position`,
    [table],
  )
  const values = columns.map(({ name }) => (name === column ? value : name))
  await pool.query(`INSERT INTO ${table} SELECT ${values} FROM ${table}, generate_series(1, ${MANY}) n WHERE ${where}`)
}

const range = {
  ...{ destinationId: 'd1', sourceId: 's1', partition: 0, fromOffset: 1, toOffset: 2 * MANY, reason: 'gone', at: NOW },
  count: MANY,
}

test('a removal ends any number of waiting events and dead letters in statements of bounded size', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('large_removal'))
  await using under = await opened(schema)
  const { store, pool } = under
  const ranges = [{ ...range, outcome: 'discarded' as const }]
  await store.outcomes.discard({ scope: { destinationId: 'd1' }, partitions: [0], ranges, reason: 'gone', at: NOW })
  expect(await pool.query(`SELECT count(*) FROM journey WHERE outcome = 'waiting'`)).toEqual([{ count: 0 }])
  expect(await pool.query('SELECT count(*) FROM dead_letter WHERE state < 2')).toEqual([{ count: 0 }])
  expect(await pool.query('SELECT count(*) FROM letter_range WHERE state < 2')).toEqual([{ count: 0 }])
  expect(await pool.query('SELECT count FROM outcome_range')).toEqual([{ count: MANY }])
})

test('the storage budget expires any number of waiting events in statements of bounded size', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('large_expiry'))
  await using under = await opened(schema)
  const { store, pool } = under
  const ranges = [{ ...range, outcome: 'expired' as const }]
  const inFlight = [{ offset: 7, index: 0 }]
  const waits = { destinationId: 'd1', partition: 0, before: MANY, inFlight }
  await store.outcomes.expireWaiting({ ...waits, ranges, positions: [] })
  expect(await pool.query(`SELECT "offset" FROM journey WHERE outcome = 'waiting' ORDER BY 1`)).toEqual(
    [7, MANY, MANY + 1, MANY + 2].map((offset) => ({ offset })),
  )
  expect(await pool.query('SELECT count FROM outcome_range')).toEqual([{ count: MANY }])
})
