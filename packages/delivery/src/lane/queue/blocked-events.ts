import type { LaneEvent } from './lane-event.ts'

/** An id with more blocked events than this is shown as `hotId`. @see contracts/delivery.md §4 [D609] */
const HOT_ID_EVENTS = 1_000

/** Counts the events of a lane that wait for an earlier event of their user, without iterating over them. */
export class BlockedEvents {
  #count = 0
  /** By user key or, if there is none, anonymous key. */
  readonly #byUser = new Map<number, number>()
  /** By anonymous key, for events that also have a user key. */
  readonly #byDevice = new Map<number, number>()
  /** Keys with more than `HOT_ID_EVENTS` blocked events. */
  readonly #hot = new Set<number>()

  get count(): number {
    return this.#count
  }

  get users(): number {
    return this.#byUser.size
  }

  /** The key with the most blocked events, if there is a hot one. */
  get hottest(): { key: number; waiting: number } | undefined {
    let hottest: { key: number; waiting: number } | undefined
    for (const key of this.#hot) {
      const waiting = this.#behind(key)
      if (waiting > (hottest?.waiting ?? 0)) hottest = { key, waiting }
    }
    return hottest
  }

  add({ userKey, anonymousKey }: LaneEvent): void {
    this.#count++
    this.#change(this.#byUser, userKey || anonymousKey, 1)
    if (userKey !== 0 && anonymousKey !== 0) this.#change(this.#byDevice, anonymousKey, 1)
  }

  remove({ userKey, anonymousKey }: LaneEvent): void {
    this.#count--
    this.#change(this.#byUser, userKey || anonymousKey, -1)
    if (userKey !== 0 && anonymousKey !== 0) this.#change(this.#byDevice, anonymousKey, -1)
  }

  #change(counts: Map<number, number>, key: number, by: 1 | -1): void {
    const count = (counts.get(key) ?? 0) + by
    if (count === 0) counts.delete(key)
    else counts.set(key, count)
    if (count < HOT_ID_EVENTS / 2 && this.#hot.size === 0) return
    if (this.#behind(key) > HOT_ID_EVENTS) this.#hot.add(key)
    else this.#hot.delete(key)
  }

  #behind(key: number): number {
    return (this.#byUser.get(key) ?? 0) + (this.#byDevice.get(key) ?? 0)
  }
}
