import type { Clock, Timer } from '@millrace/std'

/** Work that is done again and again, one turn at a time; after an error the next turn tries again. */
export class Turns {
  readonly #clock: Clock
  readonly #everyMs: number
  readonly #work: () => Promise<void>
  readonly #onError: (error: Error) => void
  #turn: Promise<void> | undefined
  #isWanted = false
  #timer: Timer | undefined
  #isStopped = true

  constructor(clock: Clock, everyMs: number, work: () => Promise<void>, onError: (error: Error) => void) {
    this.#clock = clock
    this.#everyMs = everyMs
    this.#work = work
    this.#onError = onError
  }

  start(): void {
    if (!this.#isStopped) return
    this.#isStopped = false
    if (this.#turn === undefined) this.#wait()
  }

  /** Takes a turn now, or another one after the present one. */
  wake(): void {
    if (this.#isStopped) return
    this.#isWanted = true
    if (this.#turn === undefined) this.#begin()
  }

  /** Resolves when the present turn has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#timer?.cancel()
    await this.#turn
  }

  #wait(): void {
    this.#timer = this.#clock.setTimer(() => this.#begin(), this.#everyMs)
  }

  #begin(): void {
    this.#timer?.cancel()
    this.#isWanted = false
    this.#turn = this.#work()
      .catch(this.#onError)
      .then(() => {
        this.#turn = undefined
        if (this.#isStopped) return
        if (this.#isWanted) this.#begin()
        else this.#wait()
      })
  }
}
