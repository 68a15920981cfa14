import { isBefore, type Position } from '@millrace/delivery'

/**
 * A range of the log that a reader passed before it knew of some connections. It reads the range again, and takes only the
 * events of their sources: it has taken those of the other sources already.
 *
 * @see contracts/delivery.md §11a [D653]
 */
export class ReadAgain {
  /** The place that the reader had reached. */
  readonly #to: Position
  /** By source: where its connection begins, or where the reader has reached in an earlier range. */
  readonly #from: ReadonlyMap<string, Position>

  /** @param earlier a range that the reader has not finished reading again. */
  static of(begun: ReadonlyMap<string, number>, reached: Position, earlier: ReadAgain | undefined): ReadAgain {
    const starts = [...begun].map(([id, offset]) => [id, { offset, index: 0 }] as const)
    if (earlier === undefined) return new ReadAgain(new Map(starts), reached)
    const unfinished = [...earlier.#from].map(([id, from]) => [id, isBefore(from, reached) ? reached : from] as const)
    return new ReadAgain(new Map([...unfinished, ...starts]), isBefore(reached, earlier.#to) ? earlier.#to : reached)
  }

  private constructor(from: ReadonlyMap<string, Position>, to: Position) {
    this.#from = from
    this.#to = to
  }

  /** Index of the first event of a record that is still to be taken; Infinity if all are taken. */
  firstOf(sourceId: string, offset: number): number {
    if (offset > this.#to.offset) return 0
    const from = this.#from.get(sourceId)
    if (from !== undefined && offset >= from.offset) return offset === from.offset ? from.index : 0
    return offset === this.#to.offset ? this.#to.index : Number.POSITIVE_INFINITY
  }
}
