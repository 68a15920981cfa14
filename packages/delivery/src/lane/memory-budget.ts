/** Memory limit for the payloads of all lanes together; when it is reached, each lane loads only a few events. */
export class MemoryBudget {
  readonly #maxBytes: number
  #usedBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get isUsedUp(): boolean {
    return this.#usedBytes >= this.#maxBytes
  }

  take(bytes: number): void {
    this.#usedBytes += bytes
  }

  giveBack(bytes: number): void {
    this.#usedBytes -= bytes
  }
}
