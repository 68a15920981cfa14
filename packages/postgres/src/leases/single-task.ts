import type { ProcessClock } from '../process-clock.ts'
import type { Lease, LeasedWork, Leases } from './leases.ts'

export interface SingleTaskOptions {
  /** Of its lease, whose number is 0. */
  readonly kind: string
  /** One of the members with this role does it. */
  readonly role: string
  /** From the end of a run to the beginning of the next one. */
  readonly intervalMs: number
  readonly clock: ProcessClock
  readonly logger: { warn(fields: object, text: string): void }
  /**
   * One run. Its writes match the epoch of the lease (`assertHeld`); it ends early when the signal of the lease is aborted. A run
   * that fails is repeated after the interval.
   */
  readonly run: (lease: Lease) => Promise<void>
}

/**
 * Work that one member of a cluster does for all, such as housekeeping: at an interval, and only while it holds the lease.
 *
 * @see contracts/cluster.md §4 [K8]
 */
export class SingleTask implements LeasedWork {
  readonly kind: string
  readonly role: string
  readonly #options: SingleTaskOptions
  #lease: Lease | undefined
  #timer: { cancel(): void } | undefined
  /** The last run, also of an earlier lease. */
  #run: Promise<void> = Promise.resolve()

  constructor(options: SingleTaskOptions) {
    this.kind = options.kind
    this.role = options.role
    this.#options = options
  }

  /** Takes part from now on. */
  share(leases: Pick<Leases, 'share'>): void {
    leases.share(this, [0])
  }

  async start(lease: Lease): Promise<void> {
    this.#lease = lease
    lease.signal.addEventListener('abort', () => this.#end(lease))
    this.#begin(lease)
  }

  async stop(lease: Lease): Promise<void> {
    this.#end(lease)
    await this.#run
  }

  #end(lease: Lease): void {
    if (this.#lease !== lease) return
    this.#lease = undefined
    this.#timer?.cancel()
  }

  #begin(lease: Lease): void {
    // A run under an earlier lease ends first.
    this.#run = this.#run.then(() => this.#runOnce(lease))
  }

  async #runOnce(lease: Lease): Promise<void> {
    const { run, clock, intervalMs, logger, kind } = this.#options
    if (this.#lease !== lease) return
    try {
      if (lease.mayStart()) await run(lease)
    } catch (error) {
      logger.warn({ kind, err: error }, 'a task of the cluster failed')
    }
    if (this.#lease === lease) this.#timer = clock.setTimer(() => this.#begin(lease), intervalMs)
  }
}
