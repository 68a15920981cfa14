/** The times and lanes of the events in a throttle's window, oldest first. */
export interface EventWindow {
  /** Adds an event; times never go back. @param rule the same for all events until `reset`. */
  add(at: number, lane: number, rule: { readonly limit: number; readonly windowSeconds: number }): void
  /** Removes the events that left the window until `now`. @param onGone called with lanes and their numbers of events. */
  removeGone(now: number, windowMs: number, onGone: (lane: number, events: number) => void): void
  /** The time of the event after which `events` more were sent; of the oldest one if there are fewer. */
  timeBefore(events: number): number
  /** The last time that was added. */
  readonly last: number
  reset(): void
}

/** The arrays are cut once this many events, and at least half of them, have left the window. */
const MAX_GONE = 1_024

/** Keeps the time of each event. */
export class ExactWindow implements EventWindow {
  #times: number[] = []
  #lanes: number[] = []
  #first = 0

  get last(): number {
    return this.#times.at(-1) ?? Number.NEGATIVE_INFINITY
  }

  add(at: number, lane: number): void {
    this.#times.push(at)
    this.#lanes.push(lane)
  }

  removeGone(now: number, windowMs: number, onGone: (lane: number, events: number) => void): void {
    while (this.#first < this.#times.length && this.#times[this.#first]! + windowMs <= now) {
      onGone(this.#lanes[this.#first++]!, 1)
    }
    if (this.#first < MAX_GONE || this.#first < this.#times.length / 2) return
    this.#times = this.#times.slice(this.#first)
    this.#lanes = this.#lanes.slice(this.#first)
    this.#first = 0
  }

  timeBefore(events: number): number {
    return this.#times[Math.max(this.#first, this.#times.length - 1 - events)]!
  }

  reset(): void {
    this.#times = []
    this.#lanes = []
    this.#first = 0
  }
}
