import { deleteRecords } from '@millrace/log/testing/delete-records'
import { brokerOfRun } from '@millrace/log/testing/test-run'
import type { ShardLease } from '@millrace/pipeline/cluster'
import { systemClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { accept, changed, EnginesUnderTest, ShardsUnderTest } from './testing/shards-under-test.ts'

/* Shards over a real broker and a real Postgres, of which one call fails or waits. The test holds the leases by hand. */

const WINDOW = { windowMs: 60_000 }

test('a replay whose events cannot be read at a takeover goes on when they can', async () => {
  let failures = 0
  await using engines = await EnginesUnderTest.start('resumed')
  await using shards = await ShardsUnderTest.start(engines, {
    store: ({ jobs }) => ({
      jobs: changed(jobs, {
        async replayingEvents(of) {
          if (failures-- > 0) throw new Error('Postgres does not answer')
          return jobs.replayingEvents(of)
        },
      }),
    }),
  })
  const first = await startWithEvents(shards)
  shards.sink.answer = () => 'hang'
  const isDone = await shards.replay()
  await expect.poll(() => shards.sink.held).toBe(3)
  await shards.owned.stop(first)

  failures = 1
  shards.sink.release()
  await shards.start()
  await expect.poll(isDone).toBe(true)
  expect(failures).toBeLessThan(1)
})

test('a topic that ends before the position of a destination, because it was made anew, is named', async () => {
  await using engines = await EnginesUnderTest.start('made_anew')
  await using shards = await ShardsUnderTest.start(engines)
  const first = await startWithEvents(shards)
  await shards.owned.stop(first)
  expect(shards.owned.retentionWarning()).toBeUndefined()
  await engines.pool.query('UPDATE position SET "offset" = "offset" + 1000 WHERE stream = 0 AND partition = 0')
  await shards.start()
  expect(shards.owned.retentionWarning()).toMatch(
    /^\S+ has read partition 0 up to 10\d\d, but it ends at \d: the topic was made anew/,
  )
})

test('a replay that begins while its shard is given back goes on at the next owner only', async () => {
  const reading = Promise.withResolvers<void>()
  let isHeld = false
  const begun: string[] = []
  await using engines = await EnginesUnderTest.start('halted')
  await using shards = await ShardsUnderTest.start(engines, {
    store: ({ jobs }) => ({
      jobs: changed(jobs, {
        async replayingEvents(of) {
          isHeld = true
          await reading.promise
          return jobs.replayingEvents(of)
        },
        change(of) {
          begun.push(of.id)
          return jobs.change(of)
        },
      }),
    }),
  })
  using _ = { [Symbol.dispose]: reading.resolve }
  const first = await startWithEvents(shards)
  const isDone = await shards.replay()
  await expect.poll(() => isHeld).toBe(true)
  await shards.owned.stop(first)
  reading.resolve()
  await shards.start()
  await expect.poll(isDone).toBe(true)
  expect(begun).toHaveLength(1)
  expect(shards.sink.messageIds).toEqual(['m-0', 'm-1', 'm-2', 'm-0', 'm-1', 'm-2'])
})

test('a shard whose replay waits for a deduplication that stands still is given back', async () => {
  let isBroken = false
  await using engines = await EnginesUnderTest.start('given_back')
  await using shards = await ShardsUnderTest.start(engines, {
    log: (log) => ({
      async readRules(...of) {
        if (isBroken) throw new Error('the leader does not answer')
        return log.readRules(...of)
      },
    }),
  })
  using _ = {
    [Symbol.dispose]() {
      isBroken = false
    },
  }
  const lease = await shards.start()
  isBroken = true
  await accept(shards.log, 0, 1, WINDOW)
  await shards.replay()
  await expect.poll(() => shards.waitingReplays).toBe(1)
  let isGivenBack = false
  void shards.owned.stop(lease).then(() => {
    isGivenBack = true
  })
  await expect.poll(() => isGivenBack).toBe(true)
})

test('a partition that cannot be read holds up no other one whose waiting events must be kept', async () => {
  const retentionMs = 60_000
  // For this process, all records are older than half of the retention.
  const clock = { ...systemClock, now: () => Date.now() + retentionMs / 2 + 1_000 }
  await using engines = await EnginesUnderTest.start('kept', { partitions: 2, retentionMs, clock })
  await using shards = await ShardsUnderTest.start(engines, {
    log: (log) => ({
      async oldestUnit(partition) {
        if (partition === 0) throw new Error('the leader does not answer')
        return log.oldestUnit(partition)
      },
    }),
  })
  shards.sink.answer = () => 503
  for (const home of [0, 1]) {
    await shards.start(home)
    await accept(shards.log, home, 1)
  }
  await expect.poll(() => shards.store.backlog.keptRanges()).toEqual([{ partition: 1, from: 0, to: 1 }])
})

test.each([
  ['is being given back', (shards: ShardsUnderTest, lease: ShardLease) => void shards.owned.stop(lease)],
  ['delivers', () => {}],
])('a shard that is lost while it %s begins again once its last write has ended', async (__, before) => {
  const write = Promise.withResolvers<void>()
  let isHeld = false
  const end = 1
  await using engines = await EnginesUnderTest.start('lost', { partitions: 2 })
  await using shards = await ShardsUnderTest.start(engines, {
    store: ({ duplicates }) => ({
      duplicates: changed(duplicates, {
        async write(decisions) {
          if (decisions.some(({ positions }) => positions.some(([partition, at]) => partition === 0 && at === end))) {
            isHeld = true
            await write.promise
          }
          return duplicates.write(decisions)
        },
      }),
    }),
  })
  using _ = { [Symbol.dispose]: write.resolve }
  const { log, owned } = shards
  const lease = await shards.start()
  expect(await accept(log, 0, 1, WINDOW)).toBe(end)
  await expect.poll(() => owned.shards[0]!.dedup.end(0)).toBe(end)
  before(shards, lease)
  await expect.poll(() => isHeld).toBe(true)
  lease.lose()
  const again = await shards.claim(0)
  const begun = owned.start(again)
  // As long as another one takes to begin.
  await shards.start(1)
  expect(owned.epochOf(0)).toBe(undefined)
  write.resolve()
  await begun
  expect(owned.epochOf(0)).toBe(again.epoch)
})

test('what a topic deleted while its shard had no owner is counted as expired once, however often the shard is claimed', async () => {
  await using engines = await EnginesUnderTest.start('cut')
  await using shards = await ShardsUnderTest.start(engines)
  const first = await startWithEvents(shards)
  await shards.store.places.write({ reader: 'kept-records', partition: 0, offset: 0 })
  await shards.owned.stop(first)
  await accept(shards.log, 0, 1)
  const end = await accept(shards.log, 0, 1)
  const { addresses: brokers } = await brokerOfRun()
  const topic = `${engines.prefix}.live`
  await deleteRecords({ brokers }, systemClock, { topic, index: 0, before: end })
  for (let claim = 0; claim < 3; claim++) {
    const lease = await shards.start()
    lease.lose()
  }
  expect(await shards.store.backlog.byDestination()).toMatchObject([{ destinationId: 'd1', expired: 2 }])
})

/** Begins the first shard, and delivers three events. */
async function startWithEvents(shards: ShardsUnderTest): Promise<ShardLease> {
  const lease = await shards.start()
  await accept(shards.log, 0, 3)
  await expect.poll(() => shards.sink.arrivals.length).toBe(3)
  await shards.store.flush()
  return lease
}
