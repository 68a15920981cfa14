/** Names one lease: such as shard 3, or the single task `budget` 0. */
export interface LeaseKey {
  readonly kind: string
  readonly number: number
}

/** A lease with the epoch of a claim: what a writing transaction must match. */
export interface HeldLease extends LeaseKey {
  /** Grows by one with every claim, by whichever member. */
  readonly epoch: number
}

/** A lease that this member holds, from its claim until its end. */
export interface Lease extends HeldLease {
  /**
   * Aborted when the lease is lost: another member may hold it by now. Then calls in flight are aborted and the state of
   * the work is dropped; nothing is written any more.
   */
  readonly signal: AbortSignal
  /**
   * Whether a new attempt may start: less than three quarters of the lease have passed since the last successful renewal
   * was sent. Ask before each attempt: after a pause of the process no timer has run yet.
   */
  mayStart(): boolean
}

/** The work that is done under the leases of one kind. */
export interface LeasedWork {
  readonly kind: string
  /** Members with this role share the leases of this kind. */
  readonly role: string
  /** Begins the work; it goes on after this resolves. If it throws, the lease is given back, and claimed again later. */
  start(lease: Lease): Promise<void>
  /** Ends the work in order before the lease is given back: no new attempts, calls end, outcomes are written. */
  stop(lease: Lease): Promise<void>
}

/** A process in the table of members. */
export interface MemberDescription {
  readonly roles: readonly string[]
  /** Where people find the process, such as `10.0.0.7:8080`; no process calls another. */
  readonly address: string
  readonly version: string
}

/**
 * The membership of this process and the leases that it holds.
 *
 * @see leases/describe-leases.ts for the promises of every engine
 * @see contracts/cluster.md §4 [K8, K9]
 */
export interface Leases extends AsyncDisposable {
  /** Takes a share of these leases from now on; call it again when the numbers change. */
  share(work: LeasedWork, numbers: readonly number[]): void
  /** The leases of a kind that are held and not being given back, by number. */
  held(kind: string): Lease[]
  /** The number of live members with a role, this one included; the last known one while the database is away. */
  members(role: string): number
  /** Drops leases of which a fenced transaction found that another member holds them. */
  refused(leases: readonly HeldLease[]): void
  /** Counts since the start: leases that ended without being given back, and those of them that a fence refused. */
  counts(): { readonly lost: number; readonly fenced: number }
  /** Why no renewal has succeeded for longer than a lease lasts; undefined: one has. */
  trouble(): string | undefined
  /** Leaves the cluster: stops all work and gives every lease back. While the database is away, leases just expire. */
  leave(): Promise<void>
}
