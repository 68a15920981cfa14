import type { Position } from '@millrace/delivery'
import { addToTally, type LogReader, type OffsetRange, STREAMS, type Stream, type Tally } from '@millrace/log'
import type { LogTallies } from '../backlog/log-tallies.ts'
import type { Feed } from './feed.ts'

/** The events of a destination that are still in the log because its lane has not taken them. */
export class UntakenEvents {
  readonly #log: LogReader
  readonly #tallies: LogTallies
  readonly #feed: Feed

  constructor(log: LogReader, tallies: LogTallies, feed: Feed) {
    this.#log = log
    this.#tallies = tallies
    this.#feed = feed
  }

  /**
   * Computes everything before it waits: the result describes the time of the call.
   *
   * @param sourceId undefined: all sources.
   */
  async count(sourceId?: string): Promise<{ events: number; bytes: number }> {
    const tallies = await Promise.all(
      this.#feed.partitions.map((partition) => {
        const cursors = STREAMS.map((_, stream) => this.#feed.cursor(partition, stream))
        return this.between(partition, cursors, this.#log.end(partition))
      }),
    )
    let events = 0
    let bytes = 0
    for (const [id, count] of tallies.flatMap((tally) => [...tally])) {
      if (sourceId !== undefined && id !== sourceId) continue
      events += count.events
      bytes += count.bytes
    }
    return { events, bytes }
  }

  /** Events of connected sources from a cursor in each stream up to an offset, by source. */
  async between(partition: number, cursors: readonly Position[], to: number): Promise<Tally> {
    const { activity } = this.#feed
    const sum: Tally = new Map()
    const asked: Promise<void>[] = []
    const add = async (stream: Stream, range: OffsetRange, taken: number) => {
      for (const [id, count] of await this.#tallies.tally(partition, stream, range)) {
        if (count.events === 0) continue
        if (!activity.isConnected(id, partition, range.from)) continue
        const events = count.events - taken
        addToTally(sum, id, events, Math.round((count.bytes * events) / count.events))
      }
    }
    for (const [stream, name] of STREAMS.entries()) {
      const { offset, index } = cursors[stream]!
      if (offset >= to) continue
      // The lane may have taken some events of the record at the cursor.
      if (index > 0) asked.push(add(name, { from: offset, to: offset + 1 }, index))
      for (const piece of activity.pieces(partition, index > 0 ? offset + 1 : offset, to))
        asked.push(add(name, piece, 0))
    }
    await Promise.all(asked)
    return sum
  }
}
