interface Waiting {
  readonly who: string
  readonly resolve: (hasTurn: boolean) => void
}

/**
 * A number of places that are held and given back. The next one goes to whoever of those that wait has used least, and
 * among equals to the one that has waited longest. Who asks is bounded by the callers: a destination asks for one at a
 * time.
 */
export class FairTurns {
  readonly #used: (who: string) => number
  readonly #waiting: Waiting[] = []
  #free: number

  /** @param used how much somebody has used so far; asked whenever a place becomes free. */
  constructor(places: number, used: (who: string) => number = () => 0) {
    this.#free = places
    this.#used = used
  }

  /** How many have asked and hold no place yet. */
  get waiting(): number {
    return this.#waiting.length
  }

  get isTaken(): boolean {
    return this.#free === 0
  }

  /**
   * Resolves with true when a place is free, which is then held until `done`; with false once it is given up.
   *
   * @param signal gives it up.
   */
  async next(who: string, signal?: AbortSignal): Promise<boolean> {
    if (signal?.aborted) return false
    if (this.#free > 0) {
      this.#free--
      return true
    }
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#waiting.push({ who, resolve })
    const giveUp = () => this.giveUp(who)
    signal?.addEventListener('abort', giveUp)
    return promise.finally(() => signal?.removeEventListener('abort', giveUp))
  }

  /** Somebody who has asked does not want it any more. */
  giveUp(who: string): void {
    const at = this.#waiting.findIndex((each) => each.who === who)
    if (at !== -1) this.#waiting.splice(at, 1)[0]!.resolve(false)
  }

  done(): void {
    const next = this.#takeLeast()
    if (next === undefined) this.#free++
    else next.resolve(true)
  }

  #takeLeast(): Waiting | undefined {
    let [least, used] = [0, Number.POSITIVE_INFINITY]
    for (const [at, { who }] of this.#waiting.entries()) {
      const each = this.#used(who)
      if (each < used) [least, used] = [at, each]
    }
    return this.#waiting.splice(least, 1)[0]
  }
}
