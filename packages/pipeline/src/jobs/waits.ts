import type { Clock, Timer } from '@millrace/std'

/** Waits of a job; halting the job ends all of them. */
export class Waits {
  readonly #clock: Clock
  readonly #timed = new Set<() => void>()
  #told: (() => void)[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves after this time. */
  sleep(ms: number): Promise<void> {
    if (ms <= 0) return Promise.resolve()
    return new Promise((resolve) => {
      let timer: Timer | undefined
      const end = () => {
        timer?.cancel()
        this.#timed.delete(end)
        resolve()
      }
      this.#timed.add(end)
      timer = this.#clock.setTimer(end, ms)
    })
  }

  /** Resolves at the next `tell`. */
  untilTold(): Promise<void> {
    return new Promise((resolve) => this.#told.push(resolve))
  }

  tell(): void {
    const told = this.#told
    this.#told = []
    for (const resolve of told) resolve()
  }

  endAll(): void {
    this.tell()
    for (const end of [...this.#timed]) end()
  }
}
