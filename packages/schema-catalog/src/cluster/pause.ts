import type { Clock, Timer } from '@millrace/std'

/** A wait that others can end. */
export class Pause {
  readonly #clock: Clock
  #end: (() => void) | undefined
  #timer: Timer | undefined
  #gathering: Timer | undefined
  #isHinted = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Ends after this time, or with the next `end`; at once if there was one since the last wait. */
  wait(ms: number): Promise<void> {
    if (this.#isHinted) {
      this.#isHinted = false
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      this.#end = () => {
        this.#timer?.cancel()
        this.#gathering?.cancel()
        this.#gathering = undefined
        this.#end = undefined
        resolve()
      }
      this.#timer = this.#clock.setTimer(this.#end, ms)
    })
  }

  end(): void {
    if (this.#end === undefined) this.#isHinted = true
    else this.#end()
  }

  /** Ends a wait this much later, so that what comes together is seen together. */
  endIn(ms: number): void {
    if (this.#end === undefined) this.#isHinted = true
    if (this.#end === undefined || this.#gathering !== undefined) return
    this.#gathering = this.#clock.setTimer(this.#end, ms)
  }
}
