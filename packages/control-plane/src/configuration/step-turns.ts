import { setImmediate } from 'node:timers/promises'

/** Steps of some hundredths of a millisecond each; so many do not keep anybody waiting. */
const STEPS_PER_TURN = 100

/** Takes long work in turns, so that a document of thousands of resources does not hold up the events that come meanwhile. */
export class StepTurns {
  #steps = 0

  /** To be called before each step. */
  async next(): Promise<void> {
    if (++this.#steps % STEPS_PER_TURN === 0) await setImmediate()
  }
}
