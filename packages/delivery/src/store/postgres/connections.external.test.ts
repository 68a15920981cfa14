import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { expect, test } from 'vitest'
import { LaneEvent } from '../../lane/queue/lane-event.ts'
import { letter, NOW } from '../conformance/store-place.ts'
import type { PostgresDeliveryStore } from './postgres-delivery-store.ts'
import { deliveryTestSchema, openStore } from './testing/store-under-test.ts'

const SHARDS = [0, 1, 2, 3]
const FEW = { pool: { connections: 2, timeouts: { connectMs: 1_000 } } }
const facts = { sourceId: 's1', acceptedAt: NOW, sizeBytes: 10, userKey: 0, anonymousKey: 0 }
const job = { kind: 'replay', isDryRun: false, ratePerSecond: 100, createdBy: 'x', at: NOW } as const
const wholeJob = { ...job, selection: { filter: { sourceId: 's1', reason: 'r1' } }, destinationIds: ['d1'] }

async function deadLetter({ store }: { store: PostgresDeliveryStore }, partition: number, reason: string) {
  const event = new LaneEvent({ partition, stream: 0, offset: 1, index: 0 }, facts, undefined)
  store.outcomesOf('d1').deadLetter(event, letter(1, { partition, attempts: 1, reason }))
  await store.flush()
}

test('parallel work on jobs needs one connection each: two connections serve any number of shards', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('connections'))
  await using before = await openStore(schema)
  for (const partition of SHARDS) await deadLetter(before, partition, 'r1')
  const { rows } = await before.store.deadLetters.page({ filter: {}, limit: 10, before: null })

  await using creating = await openStore(schema, FEW)
  const created = SHARDS.map((n) => creating.store.jobs.createOfLetters({ ...wholeJob, id: `j${n}` }))
  expect((await Promise.all(created)).map(({ id }) => id)).toEqual(['j0', 'j1', 'j2', 'j3'])

  // As a process after its start: it remembers no name yet.
  await using single = await openStore(schema, FEW)
  const replayed = [0, 1].map((n) =>
    single.store.jobs.createOfLetter({ letterId: rows[n]!.id, job: { ...job, id: `single${n}` }, partitions: SHARDS }),
  )
  expect((await Promise.all(replayed)).map((found) => found?.job?.taken)).toEqual([1, 1])

  await using taking = await openStore(schema, FEW)
  const part = { jobId: 'j1', destinationId: 'd1', limit: 10, at: NOW }
  const taken = await Promise.all(
    SHARDS.map((shard) => taking.store.jobs.takeLetters({ ...part, partitions: [shard] })),
  )
  expect(taken.reduce((sum, { letters }) => sum + letters.length, 0)).toBe(2)
})

test('a flush with a text that is not stored yet does not wait for a free connection', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('connections_flush'))
  await using under = await openStore(schema, FEW)
  await deadLetter(under, 0, 'r1')
  const other = await under.pool.connect()
  try {
    await deadLetter(under, 1, 'another reason')
    expect(under.store.trouble()).toBeUndefined()
  } finally {
    other.release()
  }
  expect(await under.store.deadLetters.countOpenByDestination()).toEqual([['d1', 2]])
})
