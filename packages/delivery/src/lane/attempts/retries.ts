import type { Ended } from '../../failure/classify.ts'
import type { Alarm } from '../alarm.ts'
import type { OutcomeRecorder } from '../history/outcome-recorder.ts'
import type { LaneOptions } from '../lane-options.ts'
import type { Payloads } from '../payloads.ts'
import type { LaneEvent } from '../queue/lane-event.ts'
import type { LaneQueue } from '../queue/lane-queue.ts'
import type { Parking } from './parking.ts'

/** Parts of a lane that retries use. */
export interface RetriesDeps extends Pick<LaneOptions, 'clock' | 'onRetry'> {
  readonly queue: LaneQueue
  readonly recorder: OutcomeRecorder
  readonly payloads: Payloads
  readonly parking: Parking
  readonly alarm: Alarm
}

/** Events that wait for their next attempt: a link and a due time each, unloaded and recorded on disk. */
export class Retries {
  readonly #deps: RetriesDeps

  constructor(deps: RetriesDeps) {
    this.#deps = deps
  }

  wait(event: LaneEvent, waitMs: number): void {
    const { queue, clock, alarm } = this.#deps
    queue.waitForRetry(event, clock.monotonic() + waitMs)
    alarm.ringWithin(waitMs)
  }

  /** Events of a failed call wait together; one behind another of its user waits for that one. */
  after(events: readonly LaneEvent[], { status, durationMs }: Ended, waitMs: number): void {
    const { queue, clock, recorder, payloads, parking, onRetry } = this.#deps
    const dueAt = clock.now() + waitMs
    for (const event of events) {
      const isBlocked = event.blockers > 0
      if (isBlocked) queue.block(event)
      else this.wait(event, waitMs)
      recorder.waits(event, isBlocked ? null : dueAt)
      onRetry(event, status, durationMs)
      payloads.drop(event)
    }
    for (const event of events) parking.parkFollowers(event)
  }
}
