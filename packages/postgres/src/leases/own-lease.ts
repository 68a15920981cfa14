import type { ProcessClock } from '../process-clock.ts'
import type { HeldLease, Lease, LeasedWork } from './leases.ts'

/** No attempt starts in the last quarter of a lease, so that calls in flight end before another member begins. */
const STARTING_SHARE = 3 / 4

/** A lease of this process, from its claim until it is given back or lost. */
export class OwnLease implements Lease {
  readonly kind: string
  readonly number: number
  readonly epoch: number
  readonly work: LeasedWork
  /** Resolves when the work has begun or failed to; never rejects. */
  started: Promise<void> = Promise.resolve()
  /** It is being given back: its work ends. */
  isStopping = false
  /** Its work has ended, and the row is being freed. */
  isReturned = false
  readonly #clock: ProcessClock
  readonly #leaseMs: number
  readonly #abort = new AbortController()
  #confirmedAt: number

  /** @param confirmedAt when the statement was sent that claimed it, by the monotonic clock. */
  constructor(
    { kind, number, epoch }: HeldLease,
    work: LeasedWork,
    { clock, leaseMs, confirmedAt }: { clock: ProcessClock; leaseMs: number; confirmedAt: number },
  ) {
    this.kind = kind
    this.number = number
    this.epoch = epoch
    this.work = work
    this.#clock = clock
    this.#leaseMs = leaseMs
    this.#confirmedAt = confirmedAt
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  mayStart(): boolean {
    return !this.isStopping && !this.signal.aborted && this.#ageMs() < this.#leaseMs * STARTING_SHARE
  }

  /** A renewal that was sent at this time succeeded: the database has the lease until at least a whole lease later. */
  confirm(sentAt: number): void {
    this.#confirmedAt = Math.max(this.#confirmedAt, sentAt)
  }

  /** Ms until another member may claim the lease, at the earliest. */
  leftMs(): number {
    return this.#leaseMs - this.#ageMs()
  }

  abort(): void {
    this.#abort.abort(new Error(`the lease of ${this.kind} ${this.number} is lost`))
  }

  #ageMs(): number {
    return this.#clock.monotonic() - this.#confirmedAt
  }
}
