import { migrate, type SchemaPart } from '@millrace/postgres'
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
