import type { BudgetStore, HeldBytes } from '@millrace/delivery'
import { expect, test } from 'vitest'
import { PipelineUnderTest, SECOND } from '../../testing/pipeline-under-test.ts'
import { track } from '../../testing/test-events.ts'
import type { HeldShard } from '../held-shard.ts'
import { BudgetOrders } from './budget-orders.ts'

const padding = 'x'.repeat(360)

/** Orders in memory, as the table holds them. */
class OrdersInMemory implements Pick<BudgetStore<never>, 'orders' | 'begin' | 'done'> {
  open: HeldBytes[] = []
  /** The next calls of `done` that fail. */
  failures = 0

  async orders() {
    return this.open
  }

  async begin(begun: HeldBytes) {
    this.open = this.open.map((order) => (order === begun ? { ...order, bytes: 0 } : order))
    return true
  }

  async done() {
    if (this.failures-- > 0) throw new Error('Postgres does not answer')
    this.open = []
  }
}

/** `letters` dead letters of `d1`, then `waiting` events that retry. */
async function withBacklog({ letters, waiting }: { letters: number; waiting: number }) {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  for (let n = 0; n < letters; n++) await run.accept([track(`dead-${n}`, '', { properties: { padding } })])
  await run.advance(2 * SECOND)
  sink.answer = () => 500
  for (let n = 0; n < waiting; n++) await run.accept([track(`wait-${n}`, `u-${n}`, { properties: { padding } })])
  await run.advance(2 * SECOND)
  const lease: HeldShard['lease'] = { number: 0, epoch: 1, signal: new AbortController().signal, mayStart: () => true }
  const shard = { lease, pipeline: run.shard } as HeldShard
  const budget = new OrdersInMemory()
  const orders = new BudgetOrders({
    ...{ store: { deadLetters: run.store.deadLetters, budget }, shards: () => [shard], clock: run.clock },
    ...{ logger: { info() {}, warn() {}, error() {} }, onExpired() {}, tellExpired() {} },
  })
  const order = async (bytes: number) => {
    budget.open = [{ destinationId: 'd1', shard: 0, bytes }]
    await run.advance(4 * SECOND)
    expect(budget.open).toEqual([])
  }
  const left = async () => {
    const [row] = await run.store.backlog.byDestination()
    const { pending, retrying } = await run.state()
    return { letters: row?.letters ?? 0, letterBytes: row?.letterBytes ?? 0, waiting: pending + retrying }
  }
  const close = async () => {
    await orders.stop()
    await run[Symbol.asyncDispose]()
  }
  return { run, budget, order, left, [Symbol.asyncDispose]: close }
}

test('an order takes nothing from waiting events that lie in the topics alone', async () => {
  await using under = await withBacklog({ letters: 40, waiting: 40 })
  const before = await under.left()
  expect(before).toMatchObject({ letters: 40, waiting: 40 })
  await under.order(5_000)
  const after = await under.left()
  expect(after.waiting).toBe(40)
  expect(before.letterBytes - after.letterBytes).toBeGreaterThanOrEqual(5_000)
  expect(before.letterBytes - after.letterBytes).toBeLessThan(6_000)
})

test('kept waiting events go first, and dead letters make up the rest of the order at once', async () => {
  await using under = await withBacklog({ letters: 40, waiting: 40 })
  const before = await under.left()
  // The first 10 of the waiting events are copied.
  expect(await under.run.shard.keepUnfinished({ partition: 0, from: 0, to: 50 })).toBe(10)
  await under.run.shard.needs({ writesIndex: true, dropsKept: false })
  await under.order(12_000)
  const after = await under.left()
  expect(after.waiting).toBe(30)
  expect(await under.run.store.backlog.keptRanges()).toEqual([])
  expect(before.letterBytes - after.letterBytes).toBeGreaterThan(5_000)
  expect(before.letterBytes - after.letterBytes).toBeLessThan(9_000)
})

test('an order whose end could not be noted is not carried out again', async () => {
  await using under = await withBacklog({ letters: 40, waiting: 0 })
  const before = await under.left()
  under.budget.failures = 1
  await under.order(5_000)
  const after = await under.left()
  expect(before.letterBytes - after.letterBytes).toBeGreaterThanOrEqual(5_000)
  expect(before.letterBytes - after.letterBytes).toBeLessThan(6_000)
})
