import type { Clock } from '@millrace/std'

/** How long a whole request may take, and the signal that ends what it has under way. */
export class TimeLimit implements Disposable {
  readonly #clock: Clock
  readonly #end: number
  readonly #abort = new AbortController()
  readonly #timer

  /** @param receivedAt by the monotonic clock. */
  constructor(clock: Clock, receivedAt: number, limitMs: number) {
    this.#clock = clock
    this.#end = receivedAt + limitMs
    this.#timer = clock.setTimer(() => this.end(), Math.max(0, this.leftMs))
  }

  get leftMs(): number {
    return this.#end - this.#clock.monotonic()
  }

  /** Of the end. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Ends it now: the caller has gone. */
  end(): void {
    this.#abort.abort()
  }

  /** What the work gives, or `late` if the limit comes first. */
  async within<T>(work: Promise<T>): Promise<T | 'late'> {
    if (this.signal.aborted) return 'late'
    const { promise, resolve } = Promise.withResolvers<'late'>()
    const stop = () => resolve('late')
    this.signal.addEventListener('abort', stop)
    try {
      return await Promise.race([work, promise])
    } finally {
      this.signal.removeEventListener('abort', stop)
    }
  }

  [Symbol.dispose](): void {
    this.#timer.cancel()
  }
}
