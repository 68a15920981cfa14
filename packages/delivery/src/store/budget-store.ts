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
  /** Notes the state and replaces all orders; undefined: they stay. @throws LeaseLostError */
  decide(lease: Lease, state: BudgetState, orders: readonly HeldBytes[] | undefined): Promise<void>
  /** Orders that no owner has carried out, of some shards or of all; those that are begun have 0 bytes. */
  orders(shards?: readonly number[]): Promise<HeldBytes[]>
  /**
   * The owner is about to carry it out. From now on it has 0 bytes: nothing expires twice if the owner, or the next one, finds it
   * again. What then does not expire, the holder orders anew.
   *
   * @returns false if the holder has withdrawn or replaced it.
   * @throws FencedError
   */
  begin(order: HeldBytes): Promise<boolean>
  /** The owner has carried it out. @throws FencedError */
  done(order: HeldBytes): Promise<void>
  /** Undefined before the first decision. */
  state(): Promise<BudgetState | undefined>
}
