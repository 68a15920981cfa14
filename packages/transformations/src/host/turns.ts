import { Queue } from '@millrace/std'

/**
 * A number of places that are held and given back, handed on in the order in which they were asked for. Who asks is
 * bounded by the callers: a destination asks for one at a time.
 */
export class Turns {
  readonly #waiting = new Queue<() => void>()
  #free: number

  constructor(places: number) {
    this.#free = places
  }

  /** How many have asked and hold no place yet. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Resolves when a place is free, which is then held until `done`. */
  async next(): Promise<void> {
    if (this.#free > 0) {
      this.#free--
      return
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.addLast(resolve)
    await promise
  }

  done(): void {
    const next = this.#waiting.takeFirst()
    if (next === undefined) this.#free++
    else next()
  }
}
