import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { expect, test } from 'vitest'
import { NOW } from '../conformance/store-place.ts'
import { deliveryTestSchema, openStore } from './testing/store-under-test.ts'

const MINUTE = 60_000

test('unclean ends of a shard are counted although the clocks of its owners differ by minutes', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('runs'))
  const begin = async (now: number) => {
    await using owner = await openStore(schema)
    return (await owner.store.runsOf(1).begin(now)).uncleanEnds
  }
  const ends: number[] = []
  for (const minutes of [0, 3, 0, 4, -11]) ends.push(await begin(NOW + minutes * MINUTE))
  // For the last owner, the other ends are more than ten minutes away.
  expect(ends).toEqual([0, 1, 2, 3, 1])
})
