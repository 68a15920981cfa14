import type { BudgetStore, DeliveryStore, HeldBytes } from '@millrace/delivery'
import type { Clock, Logger } from '@millrace/std'
import { EXPIRY_REASON } from '../../backlog/backlog-expiry.ts'
import type { HeldShard } from '../held-shard.ts'
import { Turns } from '../turns.ts'

const LOOK_MS = 1_000
/** Expiries of a destination are told together at this interval. */
const TELL_MS = 60_000

export interface BudgetOrdersOptions {
  readonly store: Pick<DeliveryStore, 'deadLetters'> & { readonly budget: Pick<BudgetStore<never>, 'orders' | 'done'> }
  readonly shards: () => readonly HeldShard[]
  readonly clock: Clock
  readonly logger: Logger
  readonly onExpired: (destinationId: string, count: number) => void
  /** For the audit log: the events of a destination that expired since the last report. */
  readonly tellExpired: (destinationId: string, count: number) => void
}

/** Carries out in the shards of this process what the holder of the storage budget has decided. */
export class BudgetOrders {
  readonly #options: BudgetOrdersOptions
  readonly #looks: Turns
  readonly #tells: Turns
  readonly #untold = new Map<string, number>()
  #isStopped = false

  constructor(options: BudgetOrdersOptions) {
    this.#options = options
    const { clock, logger } = options
    const onError = (error: Error) =>
      logger.warn({ cause: error.message }, 'the backlog cannot be made smaller; retrying')
    this.#looks = new Turns(clock, LOOK_MS, () => this.#look(), onError)
    this.#tells = new Turns(clock, TELL_MS, async () => this.#tell(), onError)
    this.#looks.start()
    this.#tells.start()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#looks.stop()
    await this.#tells.stop()
    this.#tell()
  }

  async #look(): Promise<void> {
    const { store, shards } = this.#options
    const own = new Map(shards().map((shard) => [shard.lease.number, shard]))
    if (own.size === 0) return
    for (const order of await store.budget.orders([...own.keys()])) {
      await this.#carryOut(order, own.get(order.shard)!)
      await store.budget.done(order)
    }
  }

  /** Waiting events go before open dead letters. */
  async #carryOut({ destinationId, bytes }: HeldBytes, shard: HeldShard): Promise<void> {
    const { pipeline } = shard
    const { store, clock, onExpired } = this.#options
    let count = await pipeline.expireWaiting({ destinationId, bytes })
    for (let left = count === 0 ? bytes : 0; left > 0 && this.#isOwn(shard); ) {
      const request = { destinationId, partitions: pipeline.partitions, reason: EXPIRY_REASON, at: clock.now() }
      const expired = await store.deadLetters.expire({ ...request, bytes: left })
      if (expired.count === 0) break
      count += expired.count
      left -= expired.bytes
    }
    // Kept records of these events leave Postgres.
    await pipeline.needs({ writesIndex: false, dropsKept: true })
    if (count === 0) return
    onExpired(destinationId, count)
    this.#untold.set(destinationId, (this.#untold.get(destinationId) ?? 0) + count)
  }

  #isOwn({ lease }: HeldShard): boolean {
    return !this.#isStopped && !lease.signal.aborted
  }

  #tell(): void {
    const { logger, tellExpired } = this.#options
    for (const [destinationId, count] of this.#untold) {
      logger.warn({ destinationId, count }, 'events expired: the backlog was full')
      tellExpired(destinationId, count)
    }
    this.#untold.clear()
  }
}
