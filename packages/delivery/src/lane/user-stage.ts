import { Queue } from '@millrace/std'
import type { LaneEvent } from './lane-event.ts'
import type { LaneQueue } from './lane-queue.ts'
import type { Payloads } from './payloads.ts'
import type { Transform, Transformed } from './transformed.ts'

const MAX_TOGETHER = 100

export interface UserStageOptions {
  readonly transform: Transform
  readonly queue: LaneQueue
  readonly payloads: Payloads
  /** Called after each batch, when those whose turn it was may go; not after `close`. */
  readonly onDone: () => void
}

/**
 * User code in front of a lane: it runs over events as soon as they are in memory, in the order in which they came there,
 * up to 100 together and one batch at a time. So it has mostly run when an event's turn comes.
 *
 * No more wait here than a lane holds in memory.
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

  /** `run` is to be called after a batch of them. */
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

  /** Runs over one event before all others: the destination is in trouble, and this one is to try it. */
  async runNow(event: LaneEvent): Promise<void> {
    const transformed = await this.#options.transform([event])
    if (!this.#isClosed) this.#take([event], transformed)
  }

  /** Other code is in force: what runs comes to nothing. */
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

/** It may have left memory, come back and been added again, or been given up. */
function isWanted({ payload, transformed, state }: LaneEvent): boolean {
  return payload !== undefined && transformed === undefined && state !== 'done'
}
