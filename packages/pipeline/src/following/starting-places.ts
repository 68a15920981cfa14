import type { Position } from '@millrace/delivery'
import { type LogReader, STREAMS } from '@millrace/log'
import type { LogTallies } from '../backlog/log-tallies.ts'
import type { StartingPoint } from '../delivery/delivery-deps.ts'
import type { Spans } from './spans.ts'

/** Position on disk of a reader of the log. */
export type PositionOf = (reader: string, partition: number, stream: number) => Position | undefined

/**
 * The places where destinations continue after a restart. The position on disk of a destination without traffic may be
 * old: using stored counts, it skips events of unconnected sources, which it would otherwise have to read.
 */
export class StartingPlaces {
  readonly #log: LogReader
  readonly #partitions: readonly number[]
  readonly #spans: Spans
  readonly #tallies: LogTallies
  readonly #positionOf: PositionOf

  constructor(
    log: LogReader,
    partitions: readonly number[],
    spans: Spans,
    tallies: LogTallies,
    positionOf: PositionOf,
  ) {
    this.#log = log
    this.#partitions = partitions
    this.#spans = spans
    this.#tallies = tallies
    this.#positionOf = positionOf
  }

  async of(destinationId: string): Promise<StartingPoint['start']> {
    const activity = this.#spans.activityOf(destinationId)
    const isWanted = (sourceId: string) => activity.knows(sourceId)
    const places = new Map(
      await Promise.all(
        this.#partitions.map(async (partition) => {
          const ofPartition = STREAMS.map((_, stream) => this.#place(destinationId, partition, stream, isWanted))
          return [partition, await Promise.all(ofPartition)] as const
        }),
      ),
    )
    return (partition, stream) => places.get(partition)![stream]!
  }

  async #place(
    destinationId: string,
    partition: number,
    stream: number,
    isWanted: (sourceId: string) => boolean,
  ): Promise<Position> {
    const recorded = this.#positionOf(destinationId, partition, stream)
    const position = recorded ?? this.#spans.firstConnected(destinationId, partition)
    const range = { from: position.offset, to: this.#log.end(partition) }
    // A batch that was taken in part contains events of this destination.
    if (position.index > 0 || range.from >= range.to) return position
    return { offset: await this.#tallies.seek(partition, STREAMS[stream]!, range, isWanted), index: 0 }
  }
}
