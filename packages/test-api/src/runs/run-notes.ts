import type { Clock } from '@millrace/std'

const HOUR_MS = 3_600_000
const MAX_NOTES = 10_000

/**
 * Remembers who tested what within the hour, so that the audit log tells it once.
 *
 * @see contracts/test-api.md §10 [D221]
 */
export class RunNotes {
  readonly #clock: Clock
  readonly #notes = new Set<string>()
  #hour = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @returns whether it is the first time in this hour of the wall clock. */
  isFirst(tokenId: string, destinationId: string): boolean {
    const hour = Math.floor(this.#clock.now() / HOUR_MS)
    if (hour !== this.#hour || this.#notes.size >= MAX_NOTES) this.#notes.clear()
    this.#hour = hour
    const note = `${tokenId} ${destinationId}`
    if (this.#notes.has(note)) return false
    this.#notes.add(note)
    return true
  }
}
