const FREE = 0
/** Others sleep until the lock is free. */
const CONTENDED = 0x100
/** Looks at a lock before the thread sleeps: a lock is held for less than a microsecond, unless its thread was interrupted. */
const SPINS = 200
const SLEEP_MS = 1
/** The longest wait. A thread that ended inside of the lock holds it; its process is about to end. */
const MAX_WAIT_MS = 1_000

/** A lock in shared memory: one integer, 0 while it is free, else the number of the thread that holds it + 1. */
export class SharedLock {
  readonly #ints: Int32Array
  readonly #thread: number

  /** @param ints one integer. */
  constructor(ints: Int32Array, thread: number) {
    this.#ints = ints
    this.#thread = thread
  }

  /** @throws LimitsLockedError after a second. */
  enter(): void {
    const own = this.#thread + 1
    if (Atomics.compareExchange(this.#ints, 0, FREE, own) === FREE) return
    for (let spin = 0; spin < SPINS; spin++) {
      if (Atomics.load(this.#ints, 0) === FREE && Atomics.compareExchange(this.#ints, 0, FREE, own) === FREE) return
    }
    const until = performance.now() + MAX_WAIT_MS
    for (;;) {
      const seen = Atomics.load(this.#ints, 0)
      // Another one may sleep too: the lock stays marked, so that `leave` wakes it.
      if (seen === FREE && Atomics.compareExchange(this.#ints, 0, FREE, own | CONTENDED) === FREE) return
      if (seen === FREE) continue
      if (performance.now() > until) throw new LimitsLockedError((seen & ~CONTENDED) - 1)
      const marked = seen | CONTENDED
      if (Atomics.compareExchange(this.#ints, 0, seen, marked) !== seen) continue
      Atomics.wait(this.#ints, 0, marked, SLEEP_MS)
    }
  }

  leave(): void {
    if ((Atomics.exchange(this.#ints, 0, FREE) & CONTENDED) !== 0) Atomics.notify(this.#ints, 0, 1)
  }
}

export class LimitsLockedError extends Error {
  override name = 'LimitsLockedError'

  constructor(thread: number) {
    super(`delivery thread ${thread} holds the limits of a destination for longer than ${MAX_WAIT_MS} ms`)
  }
}
