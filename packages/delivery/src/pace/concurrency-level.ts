import { type Cells, privateCells } from '../limits/cells.ts'

const FIRST_LEVEL = 8

const [HIGHEST, LEVEL, DELIVERED_IN_ROUND] = [0, 1, 2] as const
const HALVED_AT = 0
export const LEVEL_CELLS = { ints: 3, floats: 1 } as const

/**
 * How many calls may be in flight: grows by one per full round of delivered requests, is halved when the destination
 * says or shows that it is too much. Calls that began before a halving do not halve again.
 *
 * @see contracts/delivery.md §4 [D640]
 */
export class ConcurrencyLevel {
  readonly #ints: Int32Array
  readonly #floats: Float64Array

  /** @param cells of a level that exists already; `highest` is then ignored. */
  constructor(highest: number, cells?: Cells) {
    const { ints, floats } = cells ?? privateCells(LEVEL_CELLS.ints, LEVEL_CELLS.floats)
    this.#ints = ints
    this.#floats = floats
    if (cells === undefined) this.begin(highest)
  }

  begin(highest: number): void {
    this.#floats[HALVED_AT] = Number.NEGATIVE_INFINITY
    this.#ints[HIGHEST] = highest
    this.#ints[DELIVERED_IN_ROUND] = 0
    Atomics.store(this.#ints, LEVEL, Math.min(FIRST_LEVEL, highest))
  }

  get current(): number {
    return Atomics.load(this.#ints, LEVEL)
  }

  setHighest(highest: number): void {
    this.#ints[HIGHEST] = highest
    Atomics.store(this.#ints, LEVEL, Math.min(this.#ints[LEVEL]!, highest))
  }

  /** @returns whether the level has grown. */
  delivered(): boolean {
    const level = this.#ints[LEVEL]!
    if (++this.#ints[DELIVERED_IN_ROUND]! < level) return false
    this.#ints[DELIVERED_IN_ROUND] = 0
    if (level >= this.#ints[HIGHEST]!) return false
    Atomics.store(this.#ints, LEVEL, level + 1)
    return true
  }

  /** @param startedAt when the call began, by the same clock as `now`. */
  overloaded(startedAt: number, now: number): void {
    if (startedAt < this.#floats[HALVED_AT]!) return
    this.#floats[HALVED_AT] = now
    this.#ints[DELIVERED_IN_ROUND] = 0
    Atomics.store(this.#ints, LEVEL, Math.max(1, Math.floor(this.#ints[LEVEL]! / 2)))
  }
}
