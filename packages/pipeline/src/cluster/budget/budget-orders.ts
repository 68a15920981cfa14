import type { BudgetStore, DeliveryStore, HeldBytes } from '@millrace/delivery'
import { EXPIRY_REASON } from '../../backlog/backlog-expiry.ts'
import { ExpiryReports, type ExpiryReportsOptions } from '../../backlog/expiry-reports.ts'
import type { HeldShard } from '../held-shard.ts'
import { Turns } from '../turns.ts'

const LOOK_MS = 1_000

export interface BudgetOrdersOptions extends ExpiryReportsOptions {
  readonly store: Pick<DeliveryStore, 'deadLetters'> & {
    readonly budget: Pick<BudgetStore<never>, 'orders' | 'begin' | 'done'>
  }
  readonly shards: () => readonly HeldShard[]
}

/** Carries out in the shards of this process what the holder of the storage budget has decided. */
export class BudgetOrders {
  readonly #options: BudgetOrdersOptions
  readonly #looks: Turns
  readonly #reports: ExpiryReports
  #isStopped = false

  constructor(options: BudgetOrdersOptions) {
    this.#options = options
    const { clock, logger } = options
    const onError = (error: Error) =>
      logger.warn({ cause: error.message }, 'the backlog cannot be made smaller; retrying')
    this.#looks = new Turns(clock, LOOK_MS, () => this.#look(), onError)
    this.#reports = new ExpiryReports(options)
    this.#looks.start()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#looks.stop()
    this.#reports.tellAll()
  }

  async #look(): Promise<void> {
    const { store, shards } = this.#options
    const own = new Map(shards().map((shard) => [shard.lease.number, shard]))
    this.#reports.tellDue()
    if (own.size === 0) return
    for (const order of await store.budget.orders([...own.keys()])) {
      // One of 0 bytes was begun before.
      if (order.bytes > 0) {
        if (!(await store.budget.begin(order))) continue
        await this.#carryOut(order, own.get(order.shard)!)
      }
      await store.budget.done(order)
    }
  }

  /** Waiting events go before open dead letters; those that the topics alone hold stay, because they use none of the budget. */
  async #carryOut({ destinationId, bytes }: HeldBytes, shard: HeldShard): Promise<void> {
    const { pipeline } = shard
    const { store, clock } = this.#options
    let count = 0
    let left = bytes
    const waiting = (bytes: number) => pipeline.expireWaiting({ destinationId, bytes, isKept: true })
    const letters = (bytes: number) => {
      const request = { destinationId, partitions: pipeline.partitions, reason: EXPIRY_REASON, at: clock.now() }
      return store.deadLetters.expire({ ...request, bytes })
    }
    for (const expire of [waiting, letters]) {
      while (left > 0 && this.#isOwn(shard)) {
        const expired = await expire(left)
        if (expired.count === 0) break
        count += expired.count
        left -= expired.bytes
      }
    }
    // Kept records of these events leave Postgres.
    await pipeline.needs({ writesIndex: false, dropsKept: true })
    if (count > 0) this.#reports.note(destinationId, count)
  }

  #isOwn({ lease }: HeldShard): boolean {
    return !this.#isStopped && !lease.signal.aborted
  }
}
