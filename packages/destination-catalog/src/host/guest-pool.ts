import { createHash } from 'node:crypto'
import { type GuestEnd, GuestRuns, type GuestRunsOptions, type GuestWork } from './guest-runs.ts'

/** Their modules keep credentials or field names of an account. @see contracts/destination-catalog.md §3, row 9 [C12] */
const OWN_WORKER_SLUGS: ReadonlySet<string> = new Set(['friendbuy', 'pipedrive'])
/** Destinations with a thread of their own at a time. */
const MAX_OWN = 8
const SUSPECT_MS = 24 * 3_600_000
const MAX_SUSPECTS = 1_000

export interface GuestPoolOptions extends GuestRunsOptions {
  /** Shared threads; the id of a destination decides which one it uses. */
  readonly workers: number
}

/** How a run in the pool ends. `crashed`: it ended its thread twice, alone. */
export type PooledEnd = Exclude<GuestEnd, { kind: 'lost' }> | { readonly kind: 'lost' } | { readonly kind: 'crashed' }

/**
 * The worker threads of the catalog. A destination that was running when a thread ended gets a thread of its own for a day,
 * so that it cannot stop the others again.
 *
 * @see contracts/destination-catalog.md §4.1 [C22]
 */
export class GuestPool implements AsyncDisposable {
  readonly #options: GuestPoolOptions
  readonly #shared: GuestRuns[]
  /** The least recently used first. */
  readonly #own = new Map<string, GuestRuns>()
  /** Until when a destination has a thread of its own, by the monotonic clock. */
  readonly #suspects = new Map<string, number>()

  constructor(options: GuestPoolOptions) {
    this.#options = options
    this.#shared = Array.from({ length: options.workers }, () => new GuestRuns(options))
  }

  /** Never rejects. */
  async run(work: GuestWork): Promise<PooledEnd> {
    const wasAlone = this.#isAlone(work)
    const first = await this.#runOnce(work)
    if (first.kind !== 'lost') return first
    this.#suspect(work.run.destinationId)
    // Nothing was sent, so a second run repeats nothing.
    if (first.hasSent) return { kind: 'lost' }
    const second = await this.#runOnce(work)
    if (second.kind !== 'lost') return second
    return wasAlone ? { kind: 'crashed' } : { kind: 'lost' }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#shared, ...this.#own.values()].map((runs) => runs.stop()))
  }

  async #runOnce(work: GuestWork): Promise<GuestEnd> {
    return this.#runsOf(work)?.run(work) ?? { kind: 'busy' }
  }

  /** Undefined: it needs a thread of its own, and all of those are in use. */
  #runsOf(work: GuestWork): GuestRuns | undefined {
    if (this.#isAlone(work)) return this.#ownRuns(work.run.destinationId)
    if (this.#shared.length === 1) return this.#shared[0]!
    const hash = createHash('sha256').update(work.run.destinationId).digest().readUInt32LE()
    return this.#shared[hash % this.#shared.length]!
  }

  #isAlone({ run }: GuestWork): boolean {
    return OWN_WORKER_SLUGS.has(run.slug) || this.#isSuspect(run.destinationId)
  }

  #ownRuns(destinationId: string): GuestRuns | undefined {
    let runs = this.#own.get(destinationId)
    if (runs === undefined) {
      if (this.#own.size >= MAX_OWN && !this.#evictIdle()) return undefined
      runs = new GuestRuns(this.#options)
    }
    this.#own.delete(destinationId)
    this.#own.set(destinationId, runs)
    return runs
  }

  /** Stops the least recently used thread that is idle. False: none is. */
  #evictIdle(): boolean {
    for (const [destinationId, runs] of this.#own) {
      if (!runs.isIdle) continue
      this.#own.delete(destinationId)
      void runs.stop()
      return true
    }
    return false
  }

  #suspect(destinationId: string): void {
    if (this.#suspects.size >= MAX_SUSPECTS) this.#suspects.clear()
    this.#suspects.set(destinationId, this.#options.clock.monotonic() + SUSPECT_MS)
  }

  #isSuspect(destinationId: string): boolean {
    const until = this.#suspects.get(destinationId)
    if (until === undefined) return false
    if (until > this.#options.clock.monotonic()) return true
    this.#suspects.delete(destinationId)
    return false
  }
}
