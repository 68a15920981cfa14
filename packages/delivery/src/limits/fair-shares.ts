const [TOTAL, WAITING, LAST_TICKET, FIRST_LANE] = [0, 1, 2, 3] as const
const PER_LANE = 2

/**
 * Divides places among the lanes of a destination. While one lane wants more, it may hold all of them. While several wait, each may
 * hold its share, and a free place goes to the lane that has waited longest. A lane that wants nothing reserves nothing.
 *
 * Integers: places held in all, lanes that wait, the last ticket; then, for each lane, the places it holds, and its ticket
 * (0: it does not wait).
 */
export class FairShares {
  #ints: Int32Array

  constructor(ints: Int32Array = new Int32Array(sharesInts(1))) {
    this.#ints = ints
  }

  /** Places held by all lanes. */
  get total(): number {
    return this.#ints[TOTAL]!
  }

  get isAnyWaiting(): boolean {
    return this.#ints[WAITING] !== 0
  }

  /** How many lanes other than `lane` wait. */
  othersWaiting(lane: number): number {
    return this.#ints[WAITING]! - (this.isWaiting(lane) ? 1 : 0)
  }

  heldBy(lane: number): number {
    return this.#ints[held(lane)]!
  }

  isWaiting(lane: number): boolean {
    return this.#ints[ticket(lane)] !== 0
  }

  /** Makes room for a lane; only for cells of one thread. */
  makeRoomFor(lane: number): void {
    if (ticket(lane) < this.#ints.length) return
    const larger = new Int32Array(sharesInts(2 * (lane + 1)))
    larger.set(this.#ints)
    this.#ints = larger
  }

  /** @param most places that there are. @param isItsTurn it takes a free place before the lanes that wait. */
  mayTake(lane: number, most: number, isItsTurn = false): boolean {
    const free = most - this.#ints[TOTAL]!
    if (free <= 0) return false
    if (!this.isAnyWaiting || isItsTurn) return true
    const others = this.othersWaiting(lane)
    if (others === 0) return true
    const share = Math.ceil(most / (others + 1))
    return this.heldBy(lane) < share && this.#aheadOf(lane, share) < free
  }

  /** The lane need not wait any longer. */
  take(lane: number): void {
    this.#ints[TOTAL]!++
    this.#ints[held(lane)]!++
    this.stopWaiting(lane)
  }

  giveBack(lane: number, places = 1): void {
    this.#ints[TOTAL]! -= places
    this.#ints[held(lane)]! -= places
  }

  /** The lane keeps its turn until it takes a place or stops waiting. */
  wait(lane: number): void {
    if (this.isWaiting(lane)) return
    if (this.#ints[WAITING]!++ === 0) this.#ints[LAST_TICKET] = 0
    this.#ints[ticket(lane)] = ++this.#ints[LAST_TICKET]!
  }

  stopWaiting(lane: number): void {
    if (!this.isWaiting(lane)) return
    this.#ints[ticket(lane)] = 0
    this.#ints[WAITING]!--
  }

  /** Lanes other than `lane` that wait and may take a place now. */
  *mayGoOn(lane: number, most: number): Generator<number> {
    if (most <= this.#ints[TOTAL]!) return
    for (let other = 0; other < this.#lanes; other++) {
      if (other !== lane && this.isWaiting(other) && this.mayTake(other, most)) yield other
    }
  }

  reset(): void {
    this.#ints.fill(0)
  }

  get #lanes(): number {
    return (this.#ints.length - FIRST_LANE) / PER_LANE
  }

  /** Lanes below their share that have waited longer: each gets a free place first. */
  #aheadOf(lane: number, share: number): number {
    const own = this.#ints[ticket(lane)] || Number.POSITIVE_INFINITY
    let ahead = 0
    for (let other = 0; other < this.#lanes; other++) {
      if (this.isWaiting(other) && this.#ints[ticket(other)]! < own && this.heldBy(other) < share) ahead++
    }
    return ahead
  }
}

/** Integers that the shares of so many lanes need. */
export function sharesInts(lanes: number): number {
  return FIRST_LANE + PER_LANE * lanes
}

function held(lane: number): number {
  return FIRST_LANE + PER_LANE * lane
}

function ticket(lane: number): number {
  return held(lane) + 1
}
