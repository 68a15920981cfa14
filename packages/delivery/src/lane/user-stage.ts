import { Queue } from '@millrace/std'
import type { Payloads } from './payloads.ts'
import type { LaneEvent } from './queue/lane-event.ts'
import type { LaneQueue } from './queue/lane-queue.ts'
import type { Transform } from './transform.ts'
import type { Transformed } from './transformed.ts'

const MAX_TOGETHER = 100

export interface UserStageOptions {
  readonly transform: Transform
  readonly queue: LaneQueue
  readonly payloads: Payloads
  /** Called after each batch, whose events can then be sent; not after `close`. */
  readonly onDone: () => void
}

/**
 * Runs user code ahead of sending: on events as soon as they are in memory, in order of arrival, in batches of up to 100, one
 * batch at a time. So an event is usually transformed before its turn comes.
 *
 * Holds at most as many events as the lane has in memory.
 *
 * @see contracts/transformations.md §2 [D425]
 */
export class UserStage {
  readonly #options: UserStageOptions
  readonly #waiting = new Queue<LaneEvent>()
  #isRunning = false
  #isClosed = false

  constructor(options: UserStageOptions) {
    this.#options = options
  }

  /** Adds an event. Call `run` after a batch. */
  add(event: LaneEvent): void {
    this.#waiting.addLast(event)
  }

  run(): void {
    if (this.#isRunning || this.#isClosed) return
    const batch: LaneEvent[] = []
    while (batch.length < MAX_TOGETHER) {
      const event = this.#waiting.takeFirst()
      if (event === undefined) break
      if (isWanted(event)) batch.push(event)
    }
    if (batch.length === 0) return
    this.#isRunning = true
    void this.#options.transform(batch).then((transformed) => {
      this.#isRunning = false
      if (this.#isClosed) return
      this.#take(batch, transformed)
      this.run()
    })
  }

  /** Runs on one event before all others: it is the probe of a failing destination. */
  async runNow(event: LaneEvent): Promise<void> {
    const transformed = await this.#options.transform([event])
    if (!this.#isClosed) this.#take([event], transformed)
  }

  /** Discards the results of running batches: the code was replaced. */
  close(): void {
    this.#isClosed = true
  }

  #take(events: readonly LaneEvent[], transformed: readonly Transformed[]): void {
    const { queue, payloads, onDone } = this.#options
    for (const [i, event] of events.entries()) {
      if (event.payload !== undefined && event.state !== 'done') payloads.setTransformed(event, transformed[i])
    }
    queue.putBackTransforming(events)
    onDone()
  }
}

/** Whether the event still needs user code: it may have been unloaded, reloaded and added again, or given up. */
function isWanted({ payload, transformed, state }: LaneEvent): boolean {
  return payload !== undefined && transformed === undefined && state !== 'done'
}
