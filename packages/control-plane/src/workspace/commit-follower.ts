import type { Clock, Logger, Timer } from '@millrace/std'
import { type ControlStore, isSameVersion, type StoredVersion } from '../store/control-store.ts'

const POLL_MS = 500

export interface CommitFollowerOptions {
  readonly store: Pick<ControlStore, 'version' | 'onHint'>
  readonly clock: Clock
  readonly logger: Logger
  /** The version of the state in memory. */
  readonly current: () => StoredVersion
  /** Replaces the state in memory with the stored one. */
  readonly catchUp: () => Promise<void>
}

/**
 * Keeps the state in memory up to date with the commits of other processes: polls the stored version every 500 ms, and
 * at a hint at once. While the store does not answer, the last state stays.
 *
 * @see contracts/cluster.md §9 [K18]
 */
export class CommitFollower implements AsyncDisposable {
  readonly #options: CommitFollowerOptions
  readonly #removeHint: () => void
  #timer: Timer | undefined
  #poll: Promise<void> | undefined
  #isHinted = false
  #isClosed = false
  #isFailing = false
  /** When the state in memory was last known to be the stored one, by the monotonic clock. */
  #confirmedAt: number

  /** The state in memory has just been read. */
  constructor(options: CommitFollowerOptions) {
    this.#options = options
    this.#confirmedAt = options.clock.monotonic()
    this.#removeHint = options.store.onHint(() => this.#hint())
    this.#schedule()
  }

  /** For how long the state in memory has not been confirmed as the stored one. */
  ageMs(): number {
    return this.#options.clock.monotonic() - this.#confirmedAt
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#removeHint()
    this.#timer?.cancel()
    await this.#poll
  }

  #schedule(): void {
    if (!this.#isClosed) this.#timer = this.#options.clock.setTimer(() => this.#start(), POLL_MS)
  }

  #hint(): void {
    if (this.#isClosed) return
    this.#isHinted = true
    if (this.#poll !== undefined) return
    this.#timer?.cancel()
    this.#start()
  }

  #start(): void {
    this.#poll = this.#run().finally(() => {
      this.#poll = undefined
      this.#schedule()
    })
  }

  async #run(): Promise<void> {
    const { store, clock, logger, current, catchUp } = this.#options
    try {
      // A hint during a poll may tell of a commit that this poll did not see.
      do {
        this.#isHinted = false
        const askedAt = clock.monotonic()
        const stored = await store.version()
        if (!isSameVersion(stored, current())) await catchUp()
        this.#confirmedAt = askedAt
      } while (this.#isHinted && !this.#isClosed)
      if (this.#isFailing) logger.info({}, 'the configuration is up to date again')
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing) logger.warn({ err: error }, 'the stored configuration cannot be read; the last one stays')
      this.#isFailing = true
    }
  }
}
