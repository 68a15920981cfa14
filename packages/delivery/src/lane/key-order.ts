import type { LaneEvent } from './lane-event.ts'

/**
 * The order of events that share a user: each waits for the one before it with the same key. One map from key to the
 * last event with it, and a link from each event to its follower, so every step is O(1).
 *
 * @see contracts/delivery.md §4 [D608]
 */
export class KeyOrder {
  readonly #last = new Map<number, LaneEvent>()

  /** Queues an event after the earlier events of its user. @returns the unfinished events that block it, at most two. */
  add(event: LaneEvent): LaneEvent[] {
    const user = this.#follow(event, event.userKey)
    const anonymous = this.#follow(event, event.anonymousKey)
    if (user === undefined) return anonymous === undefined ? NONE : [anonymous]
    return anonymous === undefined ? [user] : [user, anonymous]
  }

  /** Removes a finished event; calls `onFree` with each follower that nothing else blocks. */
  finish(event: LaneEvent, onFree: (follower: LaneEvent) => void): void {
    const { userFollower, anonymousFollower } = event
    if (event.userKey !== 0 && this.#last.get(event.userKey) === event) this.#last.delete(event.userKey)
    if (event.anonymousKey !== 0 && this.#last.get(event.anonymousKey) === event) this.#last.delete(event.anonymousKey)
    event.userFollower = event.anonymousFollower = undefined
    if (userFollower !== undefined && --userFollower.blockers === 0) onFree(userFollower)
    if (anonymousFollower !== undefined && --anonymousFollower.blockers === 0) onFree(anonymousFollower)
  }

  lastOf(key: number): LaneEvent | undefined {
    return this.#last.get(key)
  }

  #follow(event: LaneEvent, key: number): LaneEvent | undefined {
    if (key === 0) return undefined
    const before = this.#last.get(key)
    this.#last.set(key, event)
    if (before === undefined) return undefined
    if (before.userKey === key) before.userFollower = event
    else before.anonymousFollower = event
    event.blockers++
    return before
  }
}

const NONE: LaneEvent[] = []
