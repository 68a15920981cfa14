/** Memory that the payloads of all lanes may take together; when it is used up, each lane holds only a few. */
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
