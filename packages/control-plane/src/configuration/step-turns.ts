import { setImmediate } from 'node:timers/promises'

/** Each step takes some hundredths of a millisecond: this many may run without a pause. */
const STEPS_PER_TURN = 100

/** Pauses long work regularly: a document of thousands of resources must not delay events. */
export class StepTurns {
  #steps = 0

  /** Call it before each step. */
  async next(): Promise<void> {
    if (++this.#steps % STEPS_PER_TURN === 0) await setImmediate()
  }
}
