import { addToTally, type EventLog, type OffsetRange, type Stream, type Tally } from '@millrace/log'

/** Ranges are split at multiples of this number of offsets: most pieces of a long range are then already counted. */
const CUTS = [2 ** 18, 2 ** 12]
const MAX_KEPT = 4_096

/**
 * Counts the events of each source in ranges of the log. The log never changes before its end: a counted range costs
 * nothing the next time, and a longer one only its new ends.
 */
export class LogTallies {
  readonly #log: Pick<EventLog, 'tally'>
  /** In order of last use. */
  readonly #known = new Map<string, Promise<Tally>>()

  constructor(log: Pick<EventLog, 'tally'>) {
    this.#log = log
  }

  /** @param range must be before the end of the log. */
  async tally(partition: number, stream: Stream, range: OffsetRange): Promise<Tally> {
    const pieces = cut(range, CUTS)
    const tallies = await Promise.all(pieces.map((piece) => this.#piece(partition, stream, piece)))
    if (tallies.length === 1) return tallies[0]!
    const sum: Tally = new Map()
    for (const [sourceId, { events, bytes }] of tallies.flatMap((tally) => [...tally])) {
      addToTally(sum, sourceId, events, bytes)
    }
    return sum
  }

  /**
   * Start of the first piece of a range that holds events of a wanted source; the end of the range if there is none.
   *
   * @param range must be before the end of the log.
   * @param sizes of the pieces, in descending order: the search continues in smaller pieces.
   */
  async seek(
    partition: number,
    stream: Stream,
    range: OffsetRange,
    isWanted: (sourceId: string) => boolean,
    sizes = CUTS,
  ): Promise<number> {
    for (const piece of cut(range, sizes)) {
      const sources = (await this.#piece(partition, stream, piece)).keys()
      if (!sources.some(isWanted)) continue
      const smaller = sizes.slice(1)
      return smaller.length === 0 ? piece.from : this.seek(partition, stream, piece, isWanted, smaller)
    }
    return range.to
  }

  /** The log found damage: the counted events may be gone. */
  forget(): void {
    this.#known.clear()
  }

  #piece(partition: number, stream: Stream, range: OffsetRange): Promise<Tally> {
    const key = `${partition} ${stream} ${range.from} ${range.to}`
    const known = this.#known.get(key) ?? this.#count(key, partition, stream, range)
    this.#known.delete(key)
    this.#known.set(key, known)
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_KEPT) break
      this.#known.delete(oldest)
    }
    return known
  }

  #count(key: string, partition: number, stream: Stream, range: OffsetRange): Promise<Tally> {
    const counted = this.#log.tally(partition, stream, range)
    counted.catch(() => this.#known.delete(key))
    return counted
  }
}

function cut({ from, to }: OffsetRange, [size, ...smaller]: readonly number[]): OffsetRange[] {
  if (from >= to) return []
  if (size === undefined) return [{ from, to }]
  const first = Math.ceil(from / size) * size
  const last = Math.floor(to / size) * size
  if (first >= last) return cut({ from, to }, smaller)
  const whole = Array.from({ length: (last - first) / size }, (_, i) => {
    return { from: first + i * size, to: first + (i + 1) * size }
  })
  return [...cut({ from, to: first }, smaller), ...whole, ...cut({ from: last, to }, smaller)]
}
