import { appendFileSync, existsSync, readFileSync } from 'node:fs'

/**
 * The catalog's types whose service has accepted an event of this installation. A file of the data folder holds one type per
 * line. If the file is missing, every type counts as not verified; deliveries do not depend on it.
 *
 * @see contracts/destination-catalog.md §1 [C2]
 */
export class VerifiedTypes {
  readonly #file: string
  readonly #onFault: (error: Error) => void
  readonly #names: Set<string>

  constructor(file: string, onFault: (error: Error) => void) {
    this.#file = file
    this.#onFault = onFault
    this.#names = new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [])
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  note(name: string): void {
    if (this.#names.has(name)) return
    this.#names.add(name)
    try {
      appendFileSync(this.#file, `${name}\n`, { mode: 0o600 })
    } catch (error) {
      // It is noted again after the next start.
      this.#onFault(error as Error)
    }
  }
}
