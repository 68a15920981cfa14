import { ApiError } from '@millrace/openapi'
import { Places } from '../places.ts'
import { TimeLimit } from '../runs/time-limit.ts'
import type { TestApiOptions, TestClient } from '../test-api-options.ts'

const MAX_AT_ONCE = 4
const MAX_WAITING = 100
const PLACE_WAIT_MS = 10_000
/** Time limit of a call of the dashboard to a service. */
export const TRIAL_TIMEOUT_MS = 30_000

/** Calls to a service with a configuration that may not be saved: a few at a time, each with a client of its own. */
export class TrialCalls {
  readonly #options: Pick<TestApiOptions, 'newClient' | 'isReady' | 'clock'>
  readonly #places: Places

  constructor(options: Pick<TestApiOptions, 'newClient' | 'isReady' | 'clock'>) {
    this.#options = options
    const { clock } = options
    this.#places = new Places({ clock, count: MAX_AT_ONCE, waitMs: PLACE_WAIT_MS, waiting: MAX_WAITING })
  }

  /**
   * @param onStart called when the call may start.
   * @param signal of the call: aborted at the time limit.
   * @throws ApiError 503 if the server is not ready, or too many calls are in progress.
   */
  async run<T>(onStart: () => void, call: (sender: TestClient, signal: AbortSignal) => Promise<T>): Promise<T> {
    const { newClient, isReady, clock } = this.#options
    const giveBack = isReady() ? await this.#places.take() : undefined
    if (giveBack === undefined) throw new ApiError('unavailable', 'Service unavailable')
    onStart()
    const sender = newClient()
    using limit = new TimeLimit(clock, clock.monotonic(), TRIAL_TIMEOUT_MS)
    try {
      return await call(sender, limit.signal)
    } finally {
      giveBack()
      await sender.close()
    }
  }
}
