import type { Faults } from './faults.ts'

/** Whether the server is about to end, and why: parts ask it before they take something new. */
export class Ending {
  readonly #faults: Pick<Faults, 'first'>
  #isStopping = false

  constructor(faults: Pick<Faults, 'first'>) {
    this.#faults = faults
  }

  /** Somebody asked for it. */
  begin(): void {
    this.#isStopping = true
  }

  /** What a fault of our own ended, if one did. */
  get fault(): string | undefined {
    return this.#faults.first?.what
  }

  /** For people, as /ready tells it; undefined as long as the server goes on. */
  get reason(): string | undefined {
    if (this.fault !== undefined) return 'ending after a fault'
    return this.#isStopping ? 'shutting down' : undefined
  }
}
