/** Memory limit for the payloads of all lanes together; when it is reached, each lane loads only a few events. */
export interface MemoryBudget {
  readonly isUsedUp: boolean
  take(bytes: number): void
  giveBack(bytes: number): void
}

/** For lanes of one thread. */
export class LocalMemoryBudget implements MemoryBudget {
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

/** For lanes of several threads: two i64 in shared memory, the limit and the used bytes. */
export class SharedMemoryBudget implements MemoryBudget {
  readonly memory: SharedArrayBuffer
  readonly #bytes: BigInt64Array

  static of(maxBytes: number): SharedMemoryBudget {
    const budget = new SharedMemoryBudget(new SharedArrayBuffer(16))
    Atomics.store(budget.#bytes, 0, BigInt(maxBytes))
    return budget
  }

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory
    this.#bytes = new BigInt64Array(memory)
  }

  get isUsedUp(): boolean {
    return Atomics.load(this.#bytes, 1) >= this.#bytes[0]!
  }

  take(bytes: number): void {
    Atomics.add(this.#bytes, 1, BigInt(bytes))
  }

  giveBack(bytes: number): void {
    Atomics.sub(this.#bytes, 1, BigInt(bytes))
  }
}
