/** Bytes that a destination holds in a shard outside the log. */
export interface HeldBytes {
  readonly destinationId: string
  readonly shard: number
  readonly bytes: number
}

export interface BudgetFigures {
  /** Of kept records and open dead letters; a kept record counts once. */
  readonly used: number
  /** Kept records count for the destinations that still need some in their shard, in proportion to their waiting events there. */
  readonly held: readonly HeldBytes[]
}

/** How full the budget is, as its holder saw it last. */
export interface BudgetState {
  readonly used: number
  readonly maxBytes: number
  /** The destination that holds most; null: none holds anything. */
  readonly largest: string | null
  /** ms since 1970. */
  readonly at: number
}

/**
 * The storage budget of an installation: one process decides which destination gives up how many bytes in which shard, and the
 * owner of the shard carries it out.
 *
 * @see contracts/cluster.md §6 [K15]
 */
export interface BudgetStore<Lease> {
  /** @param homes number of shards. */
  figures(homes: number): Promise<BudgetFigures>
  /** Notes the state and gives orders. @throws LeaseLostError */
  decide(lease: Lease, state: BudgetState, orders: readonly HeldBytes[]): Promise<void>
  /** Orders that no owner has carried out, of some shards or of all. */
  orders(shards?: readonly number[]): Promise<HeldBytes[]>
  /** The owner has carried it out. @throws FencedError */
  done(order: HeldBytes): Promise<void>
  /** Undefined before the first decision. */
  state(): Promise<BudgetState | undefined>
}
