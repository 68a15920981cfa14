import type { Clock } from '@millrace/std'

export interface PlacesOptions {
  readonly clock: Clock
  /** How many run at a time. */
  readonly count: number
  /** How long one more waits for a place. */
  readonly waitMs: number
  /** How many wait at a time. */
  readonly waiting: number
}

/** Bounds how many test runs there are at a time; who comes first goes first. @see contracts/test-api.md §13 [D225] */
export class Places {
  readonly #options: PlacesOptions
  readonly #waiting = new Set<() => void>()
  #free: number

  constructor(options: PlacesOptions) {
    this.#options = options
    this.#free = options.count
  }

  /** @returns a function that gives the place back, or undefined if none became free in time. */
  async take(): Promise<(() => void) | undefined> {
    if (this.#free > 0) this.#free--
    else if (!(await this.#wait())) return undefined
    return () => this.#giveBack()
  }

  #wait(): Promise<boolean> {
    const { clock, waitMs, waiting } = this.#options
    if (this.#waiting.size >= waiting) return Promise.resolve(false)
    return new Promise((resolve) => {
      const timer = clock.setTimer(() => {
        this.#waiting.delete(goOn)
        resolve(false)
      }, waitMs)
      const goOn = () => {
        timer.cancel()
        resolve(true)
      }
      this.#waiting.add(goOn)
    })
  }

  /** Whoever waits longest takes over the place. */
  #giveBack(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#free++
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
