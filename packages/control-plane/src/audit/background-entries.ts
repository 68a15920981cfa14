import type { Clock, Logger, Timer } from '@millrace/std'
import type { ControlStore } from '../store/control-store.ts'
import type { AuditEntry } from './audit-entry.ts'

const MAX_WAITING = 1_000
const MAX_BATCH = 100
const RETRY_MS = 5_000

export interface BackgroundEntriesOptions {
  readonly store: Pick<ControlStore, 'addAuditEntries'>
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Stores audit entries that belong to no change in the background: answers neither wait for them nor fail with them.
 * While the database cannot be written, up to 1,000 entries wait; further ones are counted and logged.
 */
export class BackgroundEntries {
  readonly #options: BackgroundEntriesOptions
  readonly #waiting: AuditEntry[] = []
  #leftOut = 0
  #writing: Promise<void> | undefined
  #retry: Timer | undefined

  constructor(options: BackgroundEntriesOptions) {
    this.#options = options
  }

  add(entry: AuditEntry): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#leftOut++
      return
    }
    this.#waiting.push(entry)
    if (this.#retry === undefined) this.#writing ??= this.#write()
  }

  /** Resolves when the entries added before are stored, or wait for the next attempt. */
  async settled(): Promise<void> {
    await this.#writing
  }

  /** Tries once more to store the waiting entries. */
  async close(): Promise<void> {
    await this.#writing
    this.#retry?.cancel()
    if (this.#waiting.length > 0) await this.#write()
    this.#retry?.cancel()
  }

  async #write(): Promise<void> {
    const { store, clock, logger } = this.#options
    this.#retry = undefined
    try {
      while (this.#waiting.length > 0) {
        const batch = this.#waiting.slice(0, MAX_BATCH)
        await store.addAuditEntries(batch)
        this.#waiting.splice(0, batch.length)
      }
      if (this.#leftOut > 0) logger.warn({ count: this.#leftOut }, 'audit entries were dropped: the queue was full')
      this.#leftOut = 0
    } catch (error) {
      logger.warn({ waiting: this.#waiting.length, err: error }, 'audit entries could not be stored; retrying')
      this.#retry = clock.setTimer(() => {
        this.#writing = this.#write()
      }, RETRY_MS)
    } finally {
      this.#writing = undefined
    }
  }
}
