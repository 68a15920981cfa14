import type { Faults } from './faults.ts'

/** Whether the server is about to end, and why: parts check it before they accept new work. */
export class Ending {
  readonly #faults: Pick<Faults, 'first'>
  #isStopping = false

  constructor(faults: Pick<Faults, 'first'>) {
    this.#faults = faults
  }

  /** A stop was requested. */
  begin(): void {
    this.#isStopping = true
  }

  /** The internal fault that ends the process, if any. */
  get fault(): string | undefined {
    return this.#faults.first?.what
  }

  /** The reason that /ready shows; undefined while the server runs. */
  get reason(): string | undefined {
    if (this.fault !== undefined) return 'ending after a fault'
    return this.#isStopping ? 'shutting down' : undefined
  }
}
