/** A lane that may send again. */
export interface WokenLane {
  readonly onPersisted: () => void
}

/** The outcomes of one destination that are not on disk, of all its lanes in this process: a crash repeats them. */
export class Unwritten {
  /** With as many, no lane of the destination sends anything more. */
  readonly most: number
  count = 0
  #waiting = new Set<WokenLane>()

  constructor(most: number) {
    this.most = most
  }

  /** @returns false: the lane is told of the next flush. */
  hasRoomFor(lane: WokenLane): boolean {
    if (this.count < this.most) return true
    this.#waiting.add(lane)
    return false
  }

  /** @returns the lanes that wait for room, each once. */
  takeWaiting(): ReadonlySet<WokenLane> {
    const waiting = this.#waiting
    this.#waiting = new Set()
    return waiting
  }
}
