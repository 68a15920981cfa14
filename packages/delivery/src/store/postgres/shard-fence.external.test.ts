import type { PostgresPool } from '@millrace/postgres'
import { BreakingProxy } from '@millrace/postgres/testing/breaking-proxy'
import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { expect, onTestFinished, test, vi } from 'vitest'
import { LaneEvent } from '../../lane/queue/lane-event.ts'
import { letter, NOW, wait } from '../conformance/store-place.ts'
import type { DeliveryStore } from '../delivery-store.ts'
import { FencedError } from '../shard-fence.ts'
import type { PostgresDeliveryStore } from './postgres-delivery-store.ts'
import { deliveryTestSchema, HeldShards, openStore, setEpoch, written } from './testing/store-under-test.ts'

const facts = { sourceId: 's1', acceptedAt: NOW, sizeBytes: 10, userKey: 0, anonymousKey: 0 }
const eventOf = (partition: number, offset: number) =>
  new LaneEvent({ partition, stream: 0, offset, index: 0 }, facts, undefined)
const recorded = (store: DeliveryStore, partition: number, offset: number) =>
  store.outcomes.recorded({ partition, offset, index: 0, sourceId: 's1' })

/** A lane of one shard. */
function laneOfShard(store: DeliveryStore, shard: number) {
  const outcomes = store.outcomesOf('d1')
  let offset = 0
  outcomes.positions = () => [{ partition: shard, stream: 0, position: { offset, index: 0 } }]
  return {
    deliver: () => outcomes.delivered(eventOf(shard, offset++), 200, 1, NOW, 1),
    giveUp: (event = '{}') =>
      outcomes.deadLetter(eventOf(shard, offset), letter(offset++, { partition: shard, event })),
    wait: () => outcomes.journey(eventOf(shard, offset), wait(offset++, { partition: shard })),
  }
}

/** A store that holds two shards under epoch 1, with a lane of each. */
async function twoShards(schema: TestSchema, url = schema.url) {
  const fence = new HeldShards([
    [0, 1],
    [1, 1],
  ])
  const opened = await openStore(schema, { fence, pool: { url } })
  for (const shard of [0, 1]) await setEpoch(opened.pool, shard, 1)
  return { ...opened, fence, lanes: [laneOfShard(opened.store, 0), laneOfShard(opened.store, 1)] as const }
}

test('a writer that lost a shard writes nothing of it, learns of it, and writes the others', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('fence'))
  await using opened = await twoShards(schema)
  const { store, pool, fence, lanes } = opened
  for (const lane of lanes) lane.deliver()
  await store.flush()
  expect(await written(pool, 'd1')).toEqual({ plain: 2, letters: 0, delivered: 2, position: 2 })

  await setEpoch(pool, 1, 2)
  for (const lane of lanes) {
    lane.deliver()
    lane.giveUp()
    lane.wait()
  }
  await store.flush()
  expect(fence.fenced).toEqual([1])
  for (const offset of [1, 2, 3]) {
    expect((await recorded(store, 0, offset)).length).toBe(1)
    expect((await recorded(store, 1, offset)).length).toBe(0)
  }
  const positions = await store.outcomes.positions()
  expect(positions.toSorted((a, b) => a.partition - b.partition)).toMatchObject([
    { partition: 0, position: { offset: 4 } },
    { partition: 1, position: { offset: 1 } },
  ])
  expect(await store.deadLetters.countOpen({})).toBe(1)
  expect(store.trouble()).toBe(undefined)
})

test.each([
  ['one of its two shards is lost', [1]],
  ['both of its shards are lost', [0, 1]],
])('a flush is written once when its answer and, before it is repeated, %s', async (_, lost) => {
  await using schema = await deliveryTestSchema(TestSchema.open('fence_in_doubt'))
  await using proxy = await BreakingProxy.open(schema.url)
  await using opened = await twoShards(schema, proxy.url)
  await using beside = schema.pool()
  const { store, fence, lanes } = opened
  for (const lane of lanes) lane.deliver()
  await store.flush()
  for (const lane of lanes) {
    lane.deliver()
    lane.giveUp()
  }
  proxy.next = { message: 'INSERT INTO writer', at: 'after', staysAway: true }
  const flushed = store.flush()
  await expect.poll(() => store.trouble()).toBeDefined()
  for (const shard of lost) {
    await setEpoch(beside, shard, 2)
    fence.epochs.delete(shard)
  }
  proxy.isAway = false
  await flushed
  expect(await written(beside, 'd1')).toEqual({ plain: 4, letters: 2, delivered: 4, position: 6 })
  const [letters] = await beside.query('SELECT sum(letters) AS letters FROM backlog')
  expect(letters).toEqual({ letters: '2' })
  if (!lost.includes(0)) {
    lanes[0].deliver()
    await store.flush()
    expect(await written(beside, 'd1')).toMatchObject({ plain: 5, delivered: 5, position: 7 })
  }
})

test('a flush of more than one statement is written whole or not at all', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('fence_large'))
  await using proxy = await BreakingProxy.open(schema.url)
  await using opened = await twoShards(schema, proxy.url)
  await using beside = schema.pool()
  const { store, lanes } = opened
  for (const lane of lanes) lane.deliver()
  await store.flush()
  const event = JSON.stringify({ messageId: 'm1', properties: { text: 'x'.repeat(30_000) } })
  for (let i = 0; i < 300; i++) {
    lanes[0].deliver()
    lanes[1].giveUp(event)
    lanes[i % 2]!.wait()
  }
  proxy.next = { message: 'INSERT INTO position', at: 'before', staysAway: true }
  const flushed = store.flush()
  await expect.poll(() => store.trouble()).toBeDefined()
  expect(await written(beside, 'd1')).toEqual({ plain: 2, letters: 0, delivered: 2, position: 2 })
  proxy.isAway = false
  await flushed
  expect(await written(beside, 'd1')).toEqual({ plain: 302, letters: 300, delivered: 302, position: 902 })
  expect(await beside.query(`SELECT count(*) FROM journey WHERE outcome = 'waiting'`)).toEqual([{ count: 300 }])
  expect(await store.deadLetters.countOpen({})).toBe(300)
})

test('every call that writes state of a shard is fenced: under a lost epoch it writes nothing', async () => {
  const range = { destinationId: 'd1', sourceId: 's1', partition: 1, fromOffset: 0, toOffset: 9, count: 1, at: NOW }
  const expired = { ...range, outcome: 'expired', reason: 'x' } as const
  const record = { offset: 1, stream: 0, sourceId: 's1', events: 1, bytes: Buffer.from('x'), duplicates: null }
  const position = { reader: 'd1', partition: 1, stream: 0, position: { offset: 9, index: 0 } }
  const partitions = [1]
  const part = { jobId: 'j1', destinationId: 'd1', partition: 1, place: [1, 0], isAtEnd: true }
  const letters = { jobId: 'j1', destinationId: 'd1', partitions, limit: 1, at: NOW }
  const span = { kind: 'connection', resource: 'c1', partition: 1, fromOffset: 3, toOffset: null } as const
  const decided = { shard: 1, positions: [[1, 9]], duplicates: [], keys: [] } as const
  const calls: Record<string, (store: PostgresDeliveryStore) => Promise<unknown>> = {
    expireLost: ({ outcomes }) => outcomes.expireLost([{ ...expired, reason: 'log was cut' }]),
    expireRange: ({ outcomes }) => outcomes.expireRange({ ...expired, fromOffset: 5 }),
    expireWaiting: ({ outcomes }) =>
      outcomes.expireWaiting({
        ...{ destinationId: 'd1', partition: 1, before: 9, inFlight: [], ranges: [expired], positions: [] },
      }),
    discard: ({ outcomes }) =>
      outcomes.discard({ scope: {}, partitions, ranges: [{ ...expired, outcome: 'discarded' }], reason: 'x', at: NOW }),
    discardWithoutRanges: ({ outcomes }) =>
      outcomes.discard({ scope: {}, partitions, ranges: [], reason: 'x', at: NOW }),
    keepRecords: ({ backlog }) => backlog.keepRecords({ partition: 1, records: [record] }),
    dropKept: ({ backlog }) => backlog.dropKept({ partition: 1, before: 9 }),
    messages: ({ messages }) => messages.write({ partition: 1, lastOffset: 9, entries: Buffer.alloc(16, 1), position }),
    expireLetters: ({ deadLetters }) =>
      deadLetters.expire({ destinationId: 'd1', partitions, bytes: 1, reason: 'x', at: NOW }),
    takeEvents: ({ jobs }) =>
      jobs.takeEvents({ ...part, waits: [wait(1, { partition: 1, replayId: 'j1' })], filtered: [] }),
    takeLetters: ({ jobs }) => jobs.takeLetters(letters),
    discardLetters: ({ jobs }) => jobs.discardLetters(letters),
    end: ({ jobs }) => jobs.end({ id: 'j1', to: 'cancelled', at: NOW, partitions }),
    reopenForgotten: ({ jobs }) => jobs.reopenForgotten({ partitions }),
    replayOne: async ({ jobs, deadLetters }) => {
      const { rows } = await deadLetters.page({ filter: { state: 'open' }, limit: 1, before: null })
      const job = { id: 'j2', ratePerSecond: 1, createdBy: 'x', at: NOW }
      return jobs.createOfLetter({ letterId: rows[0]!.id, job, partitions })
    },
    duplicates: ({ duplicates }) => duplicates.write([decided]),
    places: ({ places }) => places.write({ reader: 'r1', partition: 1, offset: 9 }),
    budgetOrderBegun: ({ budget }) => budget.begin({ destinationId: 'd1', shard: 1, bytes: 5 }),
    budgetOrder: ({ budget }) => budget.done({ destinationId: 'd1', shard: 1, bytes: 5 }),
    writeSpans: ({ spans }) =>
      spans.write({ put: [{ ...span, sourceId: 's1', destinationId: 'd1', fromOffset: 7 }], remove: [] }),
    removeSpans: ({ spans }) => spans.write({ put: [], remove: [span] }),
    dropSpans: ({ spans }) => spans.drop([span]),
  }
  for (const [name, call] of Object.entries(calls)) {
    await using schema = await deliveryTestSchema(TestSchema.open('fence_calls'))
    const fence = new HeldShards([[1, 1]])
    await using opened = await openStore(schema, { fence })
    const { store, pool } = opened
    await setEpoch(pool, 1, 1)
    const lane = laneOfShard(store, 1)
    lane.wait()
    for (let i = 0; i < 3; i++) lane.giveUp()
    await store.flush()
    await store.spans.write({ put: [{ ...span, sourceId: 's1', destinationId: 'd1' }], remove: [] })
    await store.backlog.keepRecords({ partition: 1, records: [{ ...record, offset: 2 }] })
    const job = { kind: 'replay', isDryRun: false, ratePerSecond: 9, createdBy: 'x', at: NOW } as const
    await store.jobs.createOfLetters({ ...job, id: 'j1', selection: { filter: {} }, destinationIds: ['d1'] })
    await store.jobs.createOfLetters({ ...job, id: 'j0', selection: { filter: {} }, destinationIds: ['d1'] })
    await store.jobs.takeLetters({ ...letters, jobId: 'j0' })
    await store.jobs.change({ id: 'j0', from: ['queued'], to: 'done', at: NOW })
    await pool.query(`INSERT INTO backlog_order SELECT id, 1, 5 FROM name WHERE name = 'd1'`)
    const before = await contents(pool)

    await setEpoch(pool, 1, 2)
    await expect(call(store), name).rejects.toBeInstanceOf(FencedError)
    expect([name, fence.fenced]).toEqual([name, [1]])
    expect([name, await contents(pool)]).toEqual([name, before])

    await setEpoch(pool, 1, 1)
    fence.epochs.set(1, 1)
    await call(store)
    expect([name, await contents(pool)], 'with its epoch it writes').not.toEqual([name, before])
  }
})

/** Every row of the store, but for names and the numbers of flushes. */
async function contents(pool: PostgresPool): Promise<Record<string, string>> {
  const tables = await pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema::regnamespace AND relkind IN ('r', 'p')
       AND NOT relispartition AND relname NOT IN ('lease', 'member', 'name', 'schema', 'writer') ORDER BY relname`,
  )
  const found: Record<string, string> = {}
  for (const { name } of tables) {
    const text = `SELECT coalesce(string_agg(t::text, ' ' ORDER BY t::text), '') AS rows FROM "${name}" t`
    found[name] = (await pool.query<{ rows: string }>(text))[0]!.rows
  }
  return found
}

test('a replayed dead letter of a lost shard stays as it is', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('fence_replays'))
  await using opened = await twoShards(schema)
  const { store, pool, fence, lanes } = opened
  for (const lane of lanes) lane.giveUp()
  await store.flush()
  await store.jobs.createOfLetters({
    ...{ id: 'j1', kind: 'replay', isDryRun: false, ratePerSecond: 9, createdBy: 'x', at: NOW },
    ...{ selection: { filter: {} }, destinationIds: ['d1'] },
  })
  const { letters } = await store.jobs.takeLetters({
    ...{ jobId: 'j1', destinationId: 'd1' },
    partitions: [0, 1],
    limit: 9,
    at: NOW,
  })
  expect(letters.map(({ partition }) => partition)).toEqual([0, 1])
  await setEpoch(pool, 1, 2)
  const outcomes = store.outcomesOf('d1')
  for (const { id } of letters) outcomes.replayFiltered(id, 'event filter', NOW, 1)
  await store.flush()
  expect(fence.fenced).toEqual([1])
  const states = await Promise.all(letters.map(async ({ id }) => (await store.deadLetters.get(id))!.state))
  expect(states).toEqual(['resolved', 'replaying'])
  expect(await store.jobs.get('j1')).toMatchObject({ filtered: 1 })
})

test('processes that write at once, each its shard, count every outcome of a destination', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('fence_many'))
  await using closing = new AsyncDisposableStack()
  const opened = await Promise.all(
    [0, 1, 2].map(async (shard) => {
      const each = await openStore(schema, { fence: new HeldShards([[shard, 1]]), process: `p${shard}` })
      await setEpoch(each.pool, shard, 1)
      return closing.use(each)
    }),
  )
  await Promise.all(
    opened.map(async ({ store }, shard) => {
      const lane = laneOfShard(store, shard)
      for (let round = 0; round < 25; round++) {
        for (let i = 0; i < 20; i++) {
          lane.deliver()
          lane.giveUp()
        }
        await store.flush()
      }
    }),
  )
  const { store, pool } = opened[0]!
  expect(await written(pool, 'd1')).toEqual({ plain: 1_500, letters: 1_500, delivered: 1_500, position: 3_000 })
  expect(await store.deadLetters.countOpenByDestination()).toEqual([['d1', 1_500]])
  const { groups } = await store.deadLetters.groups({ filter: {}, before: null })
  expect(groups).toMatchObject([{ count: 1_500, reason: 'answered 400' }])
  expect((await store.backlog.byDestination()).map(({ letters }) => letters)).toEqual([1_500])
})

test('an owner whose commit had no answer learns the outcome, although Postgres is away for longer than 10 s', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('long_doubt'))
  await using proxy = await BreakingProxy.open(schema.url)
  await using opened = await twoShards(schema, proxy.url)
  const { store, lanes } = opened
  lanes[0].giveUp()
  await store.flush()
  const job = { id: 'j1', kind: 'replay', isDryRun: false, ratePerSecond: 9, createdBy: 'x', at: NOW } as const
  await store.jobs.createOfLetters({ ...job, selection: { filter: {} }, destinationIds: ['d1'] })
  const realNow = performance.now.bind(performance)
  let asked = 0
  // Each look at the time takes a second while Postgres is away, which is 15 s long.
  const now = vi.spyOn(performance, 'now').mockImplementation(() => {
    if (proxy.isAway && ++asked === 15) proxy.isAway = false
    return realNow() + asked * 1_000
  })
  onTestFinished(() => now.mockRestore())
  proxy.next = { message: 'COMMIT', at: 'after', staysAway: true }
  const take = { jobId: 'j1', destinationId: 'd1', partitions: [0], limit: 9, at: NOW }
  expect((await store.jobs.takeLetters(take)).letters).toHaveLength(1)
  expect(asked).toBe(15)
})
