import type { BudgetState, BudgetStore, HeldBytes } from '@millrace/delivery'
import { ManualClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { BudgetHolder } from './budget-holder.ts'

const MAX_BYTES = 100
const LEASE = {}

/** A budget in memory: what destinations hold in shards, and the orders of the holder. */
class BudgetInMemory implements Pick<BudgetStore<object>, 'figures' | 'orders' | 'decide'> {
  held: HeldBytes[]
  open: HeldBytes[] = []
  state: BudgetState | undefined
  /** Runs after each read of the holder. */
  meanwhile = () => {}

  constructor(...held: HeldBytes[]) {
    this.held = held
  }

  async figures() {
    const { held } = this
    this.meanwhile()
    return { used: held.reduce((sum, { bytes }) => sum + bytes, 0), held }
  }

  async orders() {
    const { open } = this
    this.meanwhile()
    return open
  }

  async decide(_lease: object, state: BudgetState, orders: readonly HeldBytes[] | undefined) {
    this.state = state
    if (orders !== undefined) this.open = [...orders]
  }

  /** As the owner of its shard does. */
  carryOut(order: HeldBytes) {
    this.open = this.open.filter((each) => each !== order)
    this.held = this.held.map((each) => (isOf(each, order) ? { ...each, bytes: each.bytes - order.bytes } : each))
  }
}

function isOf(each: HeldBytes, order: HeldBytes): boolean {
  return each.destinationId === order.destinationId && each.shard === order.shard
}

function of(destinationId: string, shard: number, bytes: number): HeldBytes {
  return { destinationId, shard, bytes }
}

function holderOf(store: BudgetInMemory, clock = new ManualClock(0)) {
  const logger = { info() {}, warn() {}, error() {} }
  const whole = store as BudgetInMemory & BudgetStore<object>
  return new BudgetHolder({ store: whole, homes: 2, maxBytes: MAX_BYTES, clock, logger })
}

test('an order that is carried out while the holder looks is not given again', async () => {
  const store = new BudgetInMemory(of('d1', 0, 110))
  const holder = holderOf(store)
  await holder.look(LEASE)
  expect(store.open).toEqual([of('d1', 0, 15)])
  store.meanwhile = () => {
    for (const order of store.open) store.carryOut(order)
  }
  await holder.look(LEASE)
  expect([store.held, store.open]).toEqual([[of('d1', 0, 95)], []])
})

test('a new holder waits for the orders of the one before, and gives others once their owner does not carry them out', async () => {
  const clock = new ManualClock(0)
  const store = new BudgetInMemory(of('d1', 0, 60), of('d1', 1, 60))
  await holderOf(store, clock).look(LEASE)
  const given = store.open
  expect(given).toEqual([of('d1', 0, 13), of('d1', 1, 13)])
  store.held = [of('d1', 0, 60), of('d1', 1, 80)]
  const next = holderOf(store, clock)
  await next.look(LEASE)
  expect(store.open).toEqual(given)
  await clock.advance(61_000)
  await next.look(LEASE)
  expect(store.open).toEqual([of('d1', 0, 20), of('d1', 1, 26)])
})

test('orders of owners that lag behind stand until 95 %; below, they are withdrawn', async () => {
  const store = new BudgetInMemory(of('d1', 0, 60), of('d1', 1, 60))
  const holder = holderOf(store)
  await holder.look(LEASE)
  const [first, second] = store.open
  store.carryOut(first!)
  store.held = [of('d1', 0, 47), of('d1', 1, 51)]
  await holder.look(LEASE)
  expect(store.open).toEqual([second])
  // The destination takes its events again.
  store.held = [of('d1', 0, 30), of('d1', 1, 60)]
  await holder.look(LEASE)
  expect(store.open).toEqual([])
})
