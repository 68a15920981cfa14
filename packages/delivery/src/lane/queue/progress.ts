import type { LaneEvent } from './lane-event.ts'
import { isBefore, type Position } from './position.ts'

/**
 * Progress of a destination in one stream of a partition. The cursor marks the events that were read; it goes back when a range is
 * read again. The position, from which a restart continues, is the lowest place that was not read, or whose event has neither an
 * outcome nor a wait recorded.
 */
export class Progress {
  readonly #cursor: () => Position
  /** One for each time that the cursor went back, while it has open events. */
  #ranges: OpenEvents[] = []
  /** The range that is read now. */
  #current = new OpenEvents()
  /** The position stays here. */
  #held: Position | undefined

  /** @param cursor everything before it has been read. */
  constructor(cursor: () => Position) {
    this.#cursor = cursor
  }

  add(event: LaneEvent): void {
    if (this.#current.isAfter(event)) {
      this.#ranges.push(this.#current)
      this.#current = new OpenEvents()
    }
    this.#current.add(event)
  }

  /** Whether an event was read and has neither an outcome nor a wait recorded. */
  isOpen(place: Position): boolean {
    return this.#current.has(place) || this.#ranges.some((range) => range.has(place))
  }

  /** The position stays until `release`: events behind it lose their places before their outcome is written. */
  hold(): void {
    this.#held ??= this.position()
  }

  release(): void {
    this.#held = undefined
  }

  position(): Position {
    return this.#held ?? this.reached()
  }

  /** The position, also while it is held. */
  reached(): Position {
    let lowest = lower(this.#cursor(), this.#current.first())
    if (this.#ranges.length > 0) {
      this.#ranges = this.#ranges.filter((range) => range.first() !== undefined)
      for (const range of this.#ranges) lowest = lower(lowest, range.first())
    }
    return lowest
  }
}

/** Events in the order of the log; those at its beginning leave once they are recorded. */
class OpenEvents {
  #events: LaneEvent[] = []
  /** Events before this index are recorded. */
  #first = 0

  /** Whether its last event comes after this one in the log. */
  isAfter(event: LaneEvent): boolean {
    const last = this.#events.at(-1)
    return last !== undefined && isBefore(event, last)
  }

  add(event: LaneEvent): void {
    this.#events.push(event)
  }

  has(place: Position): boolean {
    let low = this.#first
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (isBefore(this.#events[middle]!, place)) low = middle + 1
      else high = middle
    }
    const found = this.#events[low]
    return found?.offset === place.offset && found.index === place.index && !found.isRecorded
  }

  /** The first event that is not recorded; undefined if there is none. */
  first(): LaneEvent | undefined {
    while (this.#first < this.#events.length && this.#events[this.#first]!.isRecorded) this.#first++
    if (this.#first === this.#events.length) {
      this.#events.length = 0
      this.#first = 0
    } else if (this.#first > 1024 && this.#first * 2 > this.#events.length) {
      // In place: a list that is left behind would keep its events in memory until the next full collection.
      this.#events.copyWithin(0, this.#first).length -= this.#first
      this.#first = 0
    }
    return this.#events[this.#first]
  }
}

function lower(position: Position, event: LaneEvent | undefined): Position {
  return event !== undefined && isBefore(event, position) ? { offset: event.offset, index: event.index } : position
}
