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
  /** By source whose connection another one replaced. */
  readonly #replaced: ReadonlyMap<string, Replaced>

  /**
   * @param dropped by source whose connection another one replaced: the events that the lane dropped.
   * @param earlier a range that the reader has not finished reading again.
   */
  static of(
    begun: ReadonlyMap<string, number>,
    dropped: ReadonlyMap<string, ReadonlySet<string>>,
    reached: Position,
    earlier: ReadAgain | undefined,
  ): ReadAgain {
    const starts = [...begun].map(([id, offset]) => [id, { offset, index: 0 }] as const)
    const replaced = new Map(earlier === undefined ? [] : earlier.#replaced)
    for (const id of begun.keys()) {
      const events = dropped.get(id)
      if (events === undefined) replaced.delete(id)
      else replaced.set(id, { to: reached, dropped: events })
    }
    if (earlier === undefined) return new ReadAgain(reached, new Map(starts), replaced)
    const unfinished = [...earlier.#from].map(([id, from]) => [id, isBefore(from, reached) ? reached : from] as const)
    const to = isBefore(reached, earlier.#to) ? earlier.#to : reached
    return new ReadAgain(to, new Map([...unfinished, ...starts]), replaced)
  }

  private constructor(to: Position, from: ReadonlyMap<string, Position>, replaced: ReadonlyMap<string, Replaced>) {
    this.#to = to
    this.#from = from
    this.#replaced = replaced
  }

  /** Whether an event got its outcome under the connection that the present one replaced. */
  isDone(sourceId: string, place: Position): boolean {
    const replaced = this.#replaced.get(sourceId)
    return replaced !== undefined && isBefore(place, replaced.to) && !replaced.dropped.has(placeKey(place))
  }

  /** Index of the first event of a record that is still to be taken; Infinity if all are taken. */
  firstOf(sourceId: string, offset: number): number {
    if (offset > this.#to.offset) return 0
    const from = this.#from.get(sourceId)
    if (from !== undefined && offset >= from.offset) return offset === from.offset ? from.index : 0
    return offset === this.#to.offset ? this.#to.index : Number.POSITIVE_INFINITY
  }
}

/** The events of a source before a place have their outcome, except those that the lane dropped. */
interface Replaced {
  readonly to: Position
  readonly dropped: ReadonlySet<string>
}

export function placeKey({ offset, index }: Position): string {
  return `${offset} ${index}`
}
