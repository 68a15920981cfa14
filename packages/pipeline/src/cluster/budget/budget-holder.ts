import type { BudgetStore, HeldBytes } from '@millrace/delivery'
import type { Clock, Logger } from '@millrace/std'
import { EXPIRE_UNTIL } from '../../backlog/backlog-budget.ts'
import { BudgetWarning } from '../../backlog/budget-warning.ts'

/** An order of a shard without an owner is given anew after this time. */
const ORDERS_WAIT_MS = 60_000

export interface BudgetHolderOptions<Lease> {
  readonly store: BudgetStore<Lease>
  /** Number of shards. */
  readonly homes: number
  /** 0: no limit. */
  readonly maxBytes: number
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Decides for the installation what has to expire: above the limit, the destination that holds most gives up its oldest events,
 * in each shard in proportion to what it holds there. One process does it, under a lease.
 *
 * @see contracts/cluster.md §6 [K15], contracts/delivery.md §4 [D636]
 */
export class BudgetHolder<Lease> {
  readonly #options: BudgetHolderOptions<Lease>
  #orderedAt = Number.NEGATIVE_INFINITY
  readonly #warning: BudgetWarning

  constructor(options: BudgetHolderOptions<Lease>) {
    this.#options = options
    this.#warning = new BudgetWarning(options.maxBytes, options.logger)
  }

  async look(lease: Lease): Promise<void> {
    const { store, homes, maxBytes, clock } = this.#options
    if (maxBytes === 0) return
    const { used, held } = await store.figures(homes)
    const sizes = new Map<string, number>()
    for (const { destinationId, bytes } of held) sizes.set(destinationId, (sizes.get(destinationId) ?? 0) + bytes)
    const [largest, size] = [...sizes].reduce<readonly [string | null, number]>(
      (most, each) => (each[1] > most[1] ? each : most),
      [null, 0],
    )
    this.#warning.check(used, largest ?? undefined)
    const state = { used, maxBytes, largest, at: clock.now() }
    const isWaiting = clock.monotonic() - this.#orderedAt < ORDERS_WAIT_MS && (await store.orders()).length > 0
    const excess = used - EXPIRE_UNTIL * maxBytes
    const orders =
      used < maxBytes || largest === null || isWaiting
        ? []
        : held.filter(({ destinationId }) => destinationId === largest).map((each) => orderOf(each, excess / size))
    if (orders.length > 0) this.#orderedAt = clock.monotonic()
    await store.decide(lease, state, orders)
  }
}

function orderOf({ destinationId, shard, bytes }: HeldBytes, share: number): HeldBytes {
  return { destinationId, shard, bytes: Math.max(1, Math.ceil(bytes * Math.min(1, share))) }
}
