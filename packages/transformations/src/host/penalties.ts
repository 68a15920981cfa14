import type { Clock, Logger } from '@millrace/std'
import { PENALTY_MS } from '../limits.ts'
import type { TroubleKind } from '../run.ts'

/** The destinations that run in the penalty process. */
export class Penalties {
  readonly #clock: Clock
  readonly #logger: Logger
  /** By destination, in the order of their ends: its end on the monotonic clock. */
  readonly #ends = new Map<string, number>()

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock
    this.#logger = logger
  }

  get size(): number {
    this.#forget()
    return this.#ends.size
  }

  has(key: string): boolean {
    this.#forget()
    return this.#ends.has(key)
  }

  /** Begins a penalty, or begins it again. */
  add(key: string, why: TroubleKind | 'over its share'): void {
    this.#forget()
    if (!this.#ends.delete(key)) {
      this.#logger.info({ destinationId: key, why }, 'a transformation runs in the penalty process')
    }
    this.#ends.set(key, this.#clock.monotonic() + PENALTY_MS)
  }

  #forget(): void {
    const now = this.#clock.monotonic()
    for (const [key, end] of this.#ends) {
      if (end > now) break
      this.#ends.delete(key)
    }
  }
}
