import { randomFillSync } from 'node:crypto'
import { SEED_BYTES } from '@millrace/protocol'

/** Random seeds of records, from a pool: a system call per record would cost more than the rest of the record. */
export class Seeds {
  #pool = Buffer.alloc(0)

  /** 16 random bytes. */
  next(): Uint8Array {
    if (this.#pool.length < SEED_BYTES) this.#pool = randomFillSync(Buffer.allocUnsafeSlow(SEED_BYTES * 256))
    const seed = this.#pool.subarray(0, SEED_BYTES)
    this.#pool = this.#pool.subarray(SEED_BYTES)
    return seed
  }
}
