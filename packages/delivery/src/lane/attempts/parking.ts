import type { OutcomeRecorder } from '../history/outcome-recorder.ts'
import type { Payloads } from '../payloads.ts'
import type { LaneEvent } from '../queue/lane-event.ts'

/** Unloads waiting events: their wait is recorded on disk, and they neither hold memory nor block the position. */
export class Parking {
  readonly #recorder: OutcomeRecorder
  readonly #payloads: Payloads

  constructor(recorder: OutcomeRecorder, payloads: Payloads) {
    this.#recorder = recorder
    this.#payloads = payloads
  }

  park(event: LaneEvent): void {
    this.#recorder.waits(event, null)
    this.#payloads.drop(event)
  }

  /** Parks the loaded events that wait behind an unloaded one. */
  parkFollowers(event: LaneEvent): void {
    const next = [event.userFollower, event.anonymousFollower]
    for (let follower = next.pop(); follower !== undefined || next.length > 0; follower = next.pop()) {
      if (follower === undefined || follower.payload === undefined || follower.state !== 'blocked') continue
      this.park(follower)
      next.push(follower.userFollower, follower.anonymousFollower)
    }
  }
}
