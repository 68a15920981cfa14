import { setTimeout as delay } from 'node:timers/promises'
import { PostgresUnavailableError } from '@millrace/postgres'
import { PostgresServer } from '@millrace/postgres/local-server'
import { BreakingProxy } from '@millrace/postgres/testing/breaking-proxy'
import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventAt, letter, NOW } from '../conformance/store-place.ts'
import type { LaneOutcomes } from '../outcomes/lane-outcomes.ts'
import { deliveryTestSchema, openStore, written } from './testing/store-under-test.ts'

/** A server that these tests may kill. */
let server: PostgresServer

beforeAll(async () => {
  server = await PostgresServer.start()
})

afterAll(() => server[Symbol.asyncDispose]())

/** Delivers event after event; every tenth becomes a dead letter. The position is the number of outcomes. */
class Deliveries {
  count = 0
  readonly #outcomes: LaneOutcomes
  #isEnded = false
  readonly #running: Promise<void>

  constructor(outcomes: LaneOutcomes) {
    this.#outcomes = outcomes
    outcomes.positions = () => [{ partition: 0, stream: 0, position: { offset: this.count, index: 0 } }]
    this.#running = this.#run()
  }

  /** @returns the number of outcomes. */
  async end(): Promise<number> {
    this.#isEnded = true
    await this.#running
    return this.count
  }

  /** As a lane, it stops while 1,000 outcomes are unwritten. */
  async #run(): Promise<void> {
    while (!this.#isEnded) {
      for (let i = 0; i < 50 && this.#outcomes.unwritten < 1_000; i++) {
        const offset = this.count++
        if (offset % 10 === 9) this.#outcomes.deadLetter(eventAt(offset), letter(offset))
        else this.#outcomes.delivered(eventAt(offset), 200, 1, NOW, 1)
      }
      await delay(2)
    }
  }
}

test('a server killed during flushes leaves no half flush, and no outcome is lost or written twice', async () => {
  await using schema = await deliveryTestSchema(TestSchema.on(server, 'killed'))
  await using opened = await openStore(schema)
  const { store, pool } = opened
  const deliveries = new Deliveries(store.outcomesOf('d1'))
  const backAfterMs: number[] = []
  for (let round = 0; round < 8; round++) {
    await expect.poll(async () => (await written(pool, 'd1')).position).toBeGreaterThan(round * 300)
    await server.kill()
    await expect.poll(() => store.trouble(), { interval: 5 }).toBeDefined()
    await server.start()
    const answers = performance.now()
    await expect.poll(() => store.trouble(), { interval: 5 }).toBe(undefined)
    backAfterMs.push(performance.now() - answers)
    const now = await written(pool, 'd1')
    expect([round, now.plain + now.letters, now.delivered]).toEqual([round, now.position, now.plain])
  }
  const count = await deliveries.end()
  await store.flush()
  const letters = Math.floor(count / 10)
  expect(await written(pool, 'd1')).toEqual({
    plain: count - letters,
    delivered: count - letters,
    letters,
    position: count,
  })
  expect(await store.deadLetters.countOpen({})).toBe(letters)
  expect((await store.backlog.byDestination())[0]!.letters).toBe(letters)
  for (const offset of [0, 9, 1_000, count - 1]) {
    const recorded = await store.outcomes.recorded({ partition: 0, offset, index: 0, sourceId: 's1' })
    expect([offset, recorded.length]).toEqual([offset, 1])
  }
  expect(Math.max(...backAfterMs)).toBeLessThan(2_000)
})

test('a flush that hangs and commits after the client gave it up is not written again', async () => {
  await using schema = await deliveryTestSchema(TestSchema.on(server, 'hanging'))
  await using opened = await openStore(schema, { pool: { timeouts: { answerMs: 500 } } })
  const { store } = opened
  await using beside = schema.pool({ applicationName: 'beside' })
  const outcomes = store.outcomesOf('d1')
  outcomes.positions = () => [{ partition: 0, stream: 0, position: { offset: 1, index: 0 } }]
  outcomes.delivered(eventAt(0), 200, 1, NOW, 1)
  await store.flush()
  // The next flush waits for this lock, past the patience of its client.
  const locked = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const holding = beside.transaction(async (queries) => {
    await queries.run('LOCK TABLE delivered_by_hour IN EXCLUSIVE MODE')
    locked.resolve()
    await release.promise
  })
  await locked.promise
  outcomes.delivered(eventAt(1), 200, 1, NOW, 1)
  outcomes.deadLetter(eventAt(2), letter(2))
  const flushed = store.flush()
  await expect.poll(() => store.trouble()).toBeDefined()
  release.resolve()
  await holding
  await flushed
  expect(await written(beside, 'd1')).toMatchObject({ plain: 2, delivered: 2, letters: 1 })
})

test.each(['before', 'after'] as const)(
  'a write whose connection breaks %s its commit is known to be done, or not done',
  async (at) => {
    await using proxy = await BreakingProxy.open(server.url)
    await using schema = await deliveryTestSchema(TestSchema.on(server, 'in_doubt'))
    await using opened = await openStore(schema, { pool: { url: proxy.url } })
    const { store } = opened
    const outcomes = store.outcomesOf('d1')
    for (let offset = 0; offset < 60; offset++) outcomes.deadLetter(eventAt(offset), letter(offset))
    await store.flush()
    await store.jobs.createOfLetters({
      ...{ id: 'j1', kind: 'replay', isDryRun: false, ratePerSecond: 9, createdBy: 'x', at: NOW },
      ...{ selection: { filter: {} }, destinationIds: ['d1'] },
    })
    const part = { jobId: 'j1', destinationId: 'd1', partitions: [0], limit: 20, at: NOW }
    const taken: number[] = []
    let failures = 0
    for (let isAtEnd = false; !isAtEnd; ) {
      try {
        proxy.next = { message: 'COMMIT', at }
        const step = await store.jobs.takeLetters(part)
        taken.push(...step.letters.map(({ offset }) => offset))
        isAtEnd = step.isAtEnd
      } catch (error) {
        expect(error).toBeInstanceOf(PostgresUnavailableError)
        failures++
        proxy.next = undefined
        const step = await store.jobs.takeLetters(part)
        taken.push(...step.letters.map(({ offset }) => offset))
        isAtEnd = step.isAtEnd
      }
    }
    proxy.next = undefined
    expect(failures > 0).toBe(at === 'before')
    expect(taken).toEqual(Array.from({ length: 60 }, (_, i) => i))
    expect(await store.jobs.get('j1')).toMatchObject({ taken: 60 })
  },
)

test.each(['before', 'after'] as const)('a flush whose connection breaks %s its answer is written once', async (at) => {
  await using proxy = await BreakingProxy.open(server.url)
  await using schema = await deliveryTestSchema(TestSchema.on(server, 'flush_in_doubt'))
  await using opened = await openStore(schema, { pool: { url: proxy.url } })
  const { store, pool } = opened
  const outcomes = store.outcomesOf('d1')
  for (let offset = 0; offset < 10; offset++) {
    outcomes.positions = () => [{ partition: 0, stream: 0, position: { offset: offset + 1, index: 0 } }]
    outcomes.deadLetter(eventAt(offset), letter(offset))
    outcomes.delivered(eventAt(100 + offset), 200, 1, NOW, 1)
    if (offset > 0) proxy.next = { message: 'INSERT INTO writer AS w', at }
    await store.flush()
    expect(proxy.next).toBe(undefined)
  }
  expect(await written(pool, 'd1')).toEqual({ plain: 10, letters: 10, delivered: 10, position: 10 })
  expect(await store.deadLetters.countOpen({})).toBe(10)
  expect(store.trouble()).toBe(undefined)
})

test('without a server every call is answered with an error, and the store closes', async () => {
  await using schema = await deliveryTestSchema(TestSchema.on(server, 'away'))
  const opened = await openStore(schema)
  const { store } = opened
  store.outcomesOf('d1').delivered(eventAt(1), 200, 1, NOW, 1)
  await server.kill()
  const calls: (() => Promise<unknown>)[] = [
    () => store.outcomes.positions(),
    () => store.outcomes.recorded({ partition: 0, offset: 1, index: 0, sourceId: 's1' }),
    () => store.outcomes.discard({ scope: {}, partitions: [0], ranges: [], reason: 'x', at: NOW }),
    () => store.deadLetters.page({ filter: {}, limit: 1, before: null }),
    () => store.deadLetters.get('0'.repeat(27)),
    () => store.jobs.unfinished(),
    () => store.jobs.setMatched({ jobId: 'j1', matched: 1 }),
    () => store.backlog.byDestination(),
    () => store.statistics.add({ at: 0, rows: [], reasons: [], lastEvents: [] }),
    () => store.spans.all(),
    () => store.messages.find(Buffer.alloc(8)),
    () => store.runs.begin(NOW),
    () => store.tidy({ finalBefore: NOW, logOldest: [], maxBytes: 1 }),
  ]
  for (const call of calls) await expect(call()).rejects.toBeInstanceOf(PostgresUnavailableError)
  const behind = store.outcomePort()
  behind.close()
  await opened[Symbol.asyncDispose]()
  await server.start()
})
