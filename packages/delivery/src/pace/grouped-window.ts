import type { Cells } from '../limits/cells.ts'
import type { EventWindow } from './event-window.ts'

const ROWS = 256
/** Up to so many events in the window, each has a row of its own. */
const MAX_EXACT = ROWS
/** Else, events that go within this part of the window share a row: at most so much of the throttle is lost. */
const GROUPS = 128

const [FIRST, USED, COUNTS] = [0, 1, 2] as const

/** Numbers that a window for so many lanes needs. */
export function windowCells(lanes: number) {
  return { ints: COUNTS + ROWS * lanes, floats: 2 * ROWS } as const
}

/**
 * A window of fixed size. Where the limit is above 256, events that go at nearly the same time leave the window together, with the last
 * of them: never too early.
 *
 * Integers: the first row, how many are used; then, for each row, the events of each lane. Floats: for each row, when its first and its
 * last event went.
 */
export class GroupedWindow implements EventWindow {
  readonly #ints: Int32Array
  readonly #floats: Float64Array
  readonly #lanes: number

  constructor({ ints, floats }: Cells, lanes: number) {
    this.#ints = ints
    this.#floats = floats
    this.#lanes = lanes
  }

  get last(): number {
    const used = this.#ints[USED]!
    return used === 0 ? Number.NEGATIVE_INFINITY : this.#lastOf(this.#row(used - 1))
  }

  add(at: number, lane: number, { limit, windowSeconds }: Parameters<EventWindow['add']>[2]): void {
    const used = this.#ints[USED]!
    const newest = this.#row(Math.max(0, used - 1))
    const groupMs = limit <= MAX_EXACT ? 0 : (windowSeconds * 1_000) / GROUPS
    const isJoined = used === ROWS || (used > 0 && at - this.#floats[2 * newest]! < groupMs)
    const row = isJoined ? newest : this.#row(used)
    this.#floats[2 * row + 1] = at
    if (!isJoined) {
      this.#floats[2 * row] = at
      this.#ints.fill(0, this.#count(row, 0), this.#count(row + 1, 0))
      this.#ints[USED] = used + 1
    }
    this.#ints[this.#count(row, lane)]!++
  }

  removeGone(now: number, windowMs: number, onGone: (lane: number, events: number) => void): void {
    while (this.#ints[USED]! > 0) {
      const row = this.#ints[FIRST]!
      if (this.#lastOf(row) + windowMs > now) return
      this.#ints[FIRST] = (row + 1) % ROWS
      this.#ints[USED]!--
      for (let lane = 0; lane < this.#lanes; lane++) {
        const events = this.#ints[this.#count(row, lane)]!
        if (events > 0) onGone(lane, events)
      }
    }
  }

  timeBefore(events: number): number {
    let after = 0
    for (let at = this.#ints[USED]! - 1; at > 0; at--) {
      const row = this.#row(at)
      for (let lane = 0; lane < this.#lanes; lane++) after += this.#ints[this.#count(row, lane)]!
      if (after > events) return this.#lastOf(row)
    }
    return this.#lastOf(this.#row(0))
  }

  reset(): void {
    this.#ints.fill(0, 0, COUNTS)
  }

  /** The row in place `at`, from the oldest. */
  #row(at: number): number {
    return (this.#ints[FIRST]! + at) % ROWS
  }

  #lastOf(row: number): number {
    return this.#floats[2 * row + 1]!
  }

  #count(row: number, lane: number): number {
    return COUNTS + row * this.#lanes + lane
  }
}
