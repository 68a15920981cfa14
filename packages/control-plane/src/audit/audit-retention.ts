import { type Clock, ClockJumps, type Logger, type Timer } from '@millrace/std'
import type { ControlStore } from '../store/control-store.ts'

const DAY_MS = 86_400_000
const KEPT_MS = 365 * DAY_MS
const STEP_ENTRIES = 500
const STEP_PAUSE_MS = 50

export interface AuditRetentionOptions {
  readonly store: Pick<ControlStore, 'pruneAuditEntries'>
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Deletes audit entries after 365 days: at the start and once a day, in small steps between which requests run. After
 * the wall clock jumped by over an hour, it deletes nothing for a day: the jump may have been a mistake.
 *
 * @see contracts/control-plane.md §10 [D719]
 */
export class AuditRetention {
  readonly #options: AuditRetentionOptions
  readonly #clockJumps: ClockJumps
  #timer: Timer
  #step: Promise<void> | undefined

  constructor(options: AuditRetentionOptions) {
    this.#options = options
    this.#clockJumps = new ClockJumps(options.clock)
    this.#timer = this.#after(0)
  }

  /** Resolves when no step is running. */
  async settled(): Promise<void> {
    await this.#step
  }

  async close(): Promise<void> {
    this.#timer.cancel()
    await this.#step
    // The step has set the next timer.
    this.#timer.cancel()
  }

  #after(delayMs: number): Timer {
    return this.#options.clock.setTimer(() => {
      this.#step = this.#prune()
    }, delayMs)
  }

  async #prune(): Promise<void> {
    const { store, clock, logger } = this.#options
    let delayMs = DAY_MS
    if (!this.#clockJumps.hadOneLately()) {
      try {
        const removed = await store.pruneAuditEntries(clock.now() - KEPT_MS, STEP_ENTRIES)
        if (removed === STEP_ENTRIES) delayMs = STEP_PAUSE_MS
      } catch (error) {
        logger.warn({ err: error }, 'old audit entries could not be deleted; retrying')
      }
    }
    this.#timer = this.#after(delayMs)
  }
}
