import { randomFillSync } from 'node:crypto'
import { SEED_BYTES } from '@millrace/protocol'

/** Random seeds of records, from a pool: a system call per record would cost more than the rest of the record. */
export class Seeds {
  #pool = Buffer.alloc(0)
  #used = 0

  /** 16 random bytes. */
  next(): Uint8Array {
    if (this.#used === this.#pool.length) {
      this.#pool = randomFillSync(Buffer.allocUnsafeSlow(SEED_BYTES * 256))
      this.#used = 0
    }
    const start = this.#used
    this.#used += SEED_BYTES
    return this.#pool.subarray(start, this.#used)
  }
}
