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

  /** Removes events from the middle: their followers then wait for the events before them. Call `finish` for each one, too. */
  leaveOut(removed: ReadonlySet<LaneEvent>, staying: Iterable<LaneEvent>): void {
    for (const event of staying) {
      this.#leaveOut(event, event.userKey, removed)
      this.#leaveOut(event, event.anonymousKey, removed)
    }
  }

  #leaveOut(event: LaneEvent, key: number, removed: ReadonlySet<LaneEvent>): void {
    if (key === 0) return
    let next = followerOf(event, key)
    if (next === undefined || !removed.has(next)) return
    while (next !== undefined && removed.has(next)) {
      const after: LaneEvent | undefined = followerOf(next, key)
      setFollower(next, key, undefined)
      next = after
    }
    setFollower(event, key, next)
    if (next === undefined) this.#last.set(key, event)
  }

  lastOf(key: number): LaneEvent | undefined {
    return this.#last.get(key)
  }

  #follow(event: LaneEvent, key: number): LaneEvent | undefined {
    if (key === 0) return undefined
    const before = this.#last.get(key)
    this.#last.set(key, event)
    if (before === undefined) return undefined
    setFollower(before, key, event)
    event.blockers++
    return before
  }
}

function followerOf(event: LaneEvent, key: number): LaneEvent | undefined {
  return event.userKey === key ? event.userFollower : event.anonymousFollower
}

function setFollower(event: LaneEvent, key: number, follower: LaneEvent | undefined): void {
  if (event.userKey === key) event.userFollower = follower
  else event.anonymousFollower = follower
}

const NONE: LaneEvent[] = []
