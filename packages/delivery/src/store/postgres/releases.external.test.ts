import { leaseSchema, migrate, type SchemaPart } from '@millrace/postgres'
import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { expect, test } from 'vitest'
import { eventAt, laneOf, letter, NOW, recordedAt, wait } from '../conformance/store-place.ts'
import { deliverySchema } from './schema.ts'
import { deliveryTestSchema, openStore } from './testing/store-under-test.ts'

/** A release after this one: it adds columns, an index and a table. */
const nextRelease: SchemaPart = {
  name: deliverySchema.name,
  steps: [
    ...deliverySchema.steps,
    {
      name: 'more about outcomes',
      up: (queries) =>
        queries.rows(`
          ALTER TABLE journey ADD COLUMN region text;
          ALTER TABLE block ADD COLUMN region bigint NOT NULL DEFAULT 0;
          ALTER TABLE dead_letter ADD COLUMN region text;
          CREATE INDEX journey_by_region ON journey (region);
          CREATE TABLE region (id bigint PRIMARY KEY, name text NOT NULL)`),
    },
  ],
}

test('this release goes on, and starts again, beside a later one that added to the schema', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('releases'))
  await using first = await openStore(schema)
  const outcomes = laneOf(first.store, 'd1', 5)
  outcomes.delivered(eventAt(1), 200, 1, NOW, 1)
  await first.store.flush()
  // Flushes go on while the later release migrates.
  const migrated = migrate(first.pool, [nextRelease])
  outcomes.delivered(eventAt(2), 200, 1, NOW, 1)
  outcomes.journey(eventAt(3), wait(3))
  await Promise.all([first.store.flush(), migrated])
  for (let offset = 100; offset < 120; offset++) outcomes.deadLetter(eventAt(offset), letter(offset, { attempts: 0 }))
  await first.store.flush()

  await migrate(first.pool, [deliverySchema])
  await using second = await openStore(schema)
  const after = laneOf(second.store, 'd1', 9)
  after.delivered(eventAt(4), 200, 1, NOW, 1)
  await second.store.flush()
  for (const offset of [1, 2, 3, 4, 110]) {
    expect([offset, (await recordedAt(second.store, offset)).length]).toEqual([offset, 1])
  }
  const [version] = await first.pool.query<{ version: number }>(`SELECT version FROM schema WHERE part = 'delivery'`)
  expect(version).toEqual({ version: nextRelease.steps.length })
})

test('counts of dead letters that an earlier release got wrong are made anew', async () => {
  await using schema = await TestSchema.open('wrong_counts')
  await using pool = schema.pool()
  const before = deliverySchema.steps.findIndex(({ name }) => name === 'counts of dead letters')
  await migrate(pool, [leaseSchema, { ...deliverySchema, steps: deliverySchema.steps.slice(0, before) }])
  await pool.query(`
    INSERT INTO dead_letter (id, destination, source, partition, "offset", idx, state, stage, reason, accepted_at, dead_at,
      attempts, last_status, revision, state_at, event)
    SELECT n, 1, 2, 0, n, 0, CASE WHEN n <= 3 THEN 0 ELSE 3 END, 2, 3, 0, 60000 + n, 1, 400, 1, 0, '{}'
    FROM generate_series(1, 5) n`)
  await pool.query(`
    INSERT INTO letter_range (first, destination, source, partition, first_offset, last_offset, state, stage, reason, dead_at,
      last_status, revision, state_at, letters, event_bytes, offsets, indexes, accepted, events)
    SELECT 256 * (1 + state), 1, 2, 0, 1, 2, state, 2, 3, 60000, 400, 1, 0, 2, 4, '{8,9}', '{0,0}', '{0,0}', '{"{}","{}"}'
    FROM unnest('{0,3}'::int[]) state`)
  await pool.query('INSERT INTO letter_group VALUES (1, 2, 2, 3, 400, 0, -7, 1, 1), (1, 2, 2, 3, 400, 1, 20, 1, 1)')
  await migrate(pool, [deliverySchema])
  expect(await pool.query('SELECT * FROM letter_group')).toEqual([
    {
      destination: 1,
      source: 2,
      stage: 2,
      reason: 3,
      last_status: 400,
      minute: 1,
      letters: 5,
      oldest: 60_000,
      newest: 60_003,
    },
  ])
})

test('several processes that start at once make the tables once', async () => {
  await using schema = await TestSchema.open('starts')
  await using pool = schema.pool()
  await Promise.all(Array.from({ length: 4 }, () => migrate(pool, [deliverySchema])))
  const stores = await Promise.all(Array.from({ length: 4 }, (_, i) => openStore(schema, { process: `p${i}` })))
  // The first flush of each makes the tables of the day.
  for (const [i, { store }] of stores.entries()) laneOf(store, `d${i}`, 1).delivered(eventAt(i), 200, 1, NOW, 1)
  await Promise.all(stores.map(({ store }) => store.flush()))
  for (const [i, { store }] of stores.entries()) expect((await recordedAt(store, i)).length).toBe(1)
  await Promise.all(stores.map((each) => each[Symbol.asyncDispose]()))
})
