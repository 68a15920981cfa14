import type { LaneEvent } from './lane-event.ts'
import type { Position } from './position.ts'

/**
 * Progress of a destination in one stream of a partition. The cursor marks the events that were read. The position, from
 * which a restart continues, is the lowest event whose outcome or wait is not recorded.
 */
export class Progress {
  readonly #cursor: () => Position
  /** Events in order; those before `#first` are recorded. */
  #open: LaneEvent[] = []
  #first = 0

  /** @param cursor everything before it has been read; it never goes back. */
  constructor(cursor: () => Position) {
    this.#cursor = cursor
  }

  add(event: LaneEvent): void {
    this.#open.push(event)
  }

  /** Whether an event was read and has neither an outcome nor a wait recorded. */
  isOpen({ offset, index }: Position): boolean {
    let low = this.#first
    let high = this.#open.length
    while (low < high) {
      const middle = (low + high) >> 1
      const event = this.#open[middle]!
      if (event.offset < offset || (event.offset === offset && event.index < index)) low = middle + 1
      else high = middle
    }
    const found = this.#open[low]
    return found?.offset === offset && found.index === index && !found.isRecorded
  }

  position(): Position {
    while (this.#first < this.#open.length && this.#open[this.#first]!.isRecorded) this.#first++
    if (this.#first === this.#open.length) {
      this.#open = []
      this.#first = 0
      return this.#cursor()
    }
    if (this.#first > 1024 && this.#first * 2 > this.#open.length) {
      this.#open = this.#open.slice(this.#first)
      this.#first = 0
    }
    const { offset, index } = this.#open[this.#first]!
    return { offset, index }
  }
}
