/*
 * What both threads know without asking, in 48 bytes that they share, each number a signed 64 bits but the first:
 *
 *    0  i32  1 while the catalog's thread is awake or about to be
 *    8  the end of the log: what was committed before it can be read
 *   16  counted of the live stream      32  of both, on disk: the log may drop what lies before
 *   24  counted of the backfill stream
 */
const BYTES = 48
const COUNTED = { live: 2, backfill: 3 } as const

/** Offsets that cross between the threads. */
export class SharedPlaces {
  readonly memory: SharedArrayBuffer
  readonly #awake: Int32Array
  readonly #places: BigInt64Array

  constructor(memory = new SharedArrayBuffer(BYTES)) {
    this.memory = memory
    this.#awake = new Int32Array(memory, 0, 1)
    this.#places = new BigInt64Array(memory)
  }

  /** @returns whether it was asleep. */
  wake(): boolean {
    return Atomics.exchange(this.#awake, 0, 1) === 0
  }

  sleep(): void {
    Atomics.store(this.#awake, 0, 0)
  }

  get end(): number {
    return Number(Atomics.load(this.#places, 1))
  }

  set end(offset: number) {
    Atomics.store(this.#places, 1, BigInt(offset))
  }

  counted(stream: 'live' | 'backfill'): number {
    return Number(Atomics.load(this.#places, COUNTED[stream]))
  }

  setCounted(stream: 'live' | 'backfill', offset: number): void {
    Atomics.store(this.#places, COUNTED[stream], BigInt(offset))
  }

  get onDisk(): number {
    return Number(Atomics.load(this.#places, 4))
  }

  set onDisk(offset: number) {
    Atomics.store(this.#places, 4, BigInt(offset))
  }
}
