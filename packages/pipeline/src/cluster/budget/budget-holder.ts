import type { BudgetStore, HeldBytes } from '@millrace/delivery'
import type { Clock, Logger } from '@millrace/std'
import { EXPIRE_UNTIL } from '../../backlog/backlog-budget.ts'
import { BudgetWarning } from '../../backlog/budget-warning.ts'

/** An order of a shard without an owner is replaced after this time. */
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
  /** Since when there are open orders; a new holder counts from its first look. */
  #openSince: number | undefined
  readonly #warning: BudgetWarning

  constructor(options: BudgetHolderOptions<Lease>) {
    this.#options = options
    this.#warning = new BudgetWarning(options.maxBytes, options.logger)
  }

  async look(lease: Lease): Promise<void> {
    const { store, homes, maxBytes, clock } = this.#options
    if (maxBytes === 0) return
    // Before the figures: what an order freed is in them once the order is gone.
    const isOpen = (await store.orders()).length > 0
    const { used, held } = await store.figures(homes)
    const sizes = new Map<string, number>()
    for (const { destinationId, bytes } of held) sizes.set(destinationId, (sizes.get(destinationId) ?? 0) + bytes)
    const [largest, size] = [...sizes].reduce<readonly [string | null, number]>(
      (most, each) => (each[1] > most[1] ? each : most),
      [null, 0],
    )
    this.#warning.check(used, largest ?? undefined)
    const state = { used, maxBytes, largest, at: clock.now() }
    const now = clock.monotonic()
    this.#openSince = isOpen ? (this.#openSince ?? now) : undefined
    const excess = used - EXPIRE_UNTIL * maxBytes
    if (this.#openSince !== undefined && now - this.#openSince < ORDERS_WAIT_MS && excess > 0) {
      await store.decide(lease, state, undefined)
      return
    }
    const ofLargest = used < maxBytes ? [] : held.filter(({ destinationId }) => destinationId === largest)
    await store.decide(
      lease,
      state,
      ofLargest.map((each) => orderOf(each, excess / size)),
    )
    this.#openSince = undefined
  }
}

function orderOf({ destinationId, shard, bytes }: HeldBytes, share: number): HeldBytes {
  return { destinationId, shard, bytes: Math.max(1, Math.ceil(bytes * Math.min(1, share))) }
}
