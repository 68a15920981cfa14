import type { LaneEvent } from './lane-event.ts'

/** A place in a stream: everything before it is done. */
export interface Position {
  readonly offset: number
  readonly index: number
}

/**
 * How far a destination has come in one stream of one partition. The cursor says what has been taken up; the position,
 * which is what a restart goes on from, is the lowest event whose outcome or wait is not recorded.
 */
export class Progress {
  readonly #cursor: () => Position
  /** Events taken up, in order; those before `#first` are recorded. */
  #open: LaneEvent[] = []
  #first = 0

  /** @param cursor everything before it has been taken up; it never goes back. */
  constructor(cursor: () => Position) {
    this.#cursor = cursor
  }

  add(event: LaneEvent): void {
    this.#open.push(event)
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
