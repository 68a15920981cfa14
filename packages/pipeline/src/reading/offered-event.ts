import type { EventPlace, Lane, LaneOutcomes } from '@millrace/delivery'
import { type LogReader, STREAMS } from '@millrace/log'
import type { EventIntake } from './event-intake.ts'
import { bytesPerEvent, type ParsedRecords } from './parsed-records.ts'
import type { PartitionFeed } from './partition-feed.ts'

const READ_BYTES = 16 * 1024

/** An event that is about to be taken. */
export interface OfferedEvent extends EventPlace {
  readonly sourceId: string
  readonly acceptedAt: number
  readonly sizeBytes: number
}

/**
 * Called before any code reads the event.
 *
 * @returns called when the event was taken or filtered, or left because the lane has no room; undefined ends the reading.
 */
export type OnOffered = (event: OfferedEvent) => Promise<(() => Promise<void>) | undefined>

interface OneByOneDeps {
  readonly lane: Lane
  readonly log: LogReader
  readonly parsed: ParsedRecords
  readonly outcomes: LaneOutcomes
  readonly intake: EventIntake
  readonly isClosed: () => boolean
}

/**
 * Takes the events of one stream before the offset `end` one after the other, as the lane has room.
 *
 * @returns whether all of them were taken.
 */
export async function takeOneByOne(
  feed: PartitionFeed,
  stream: number,
  end: number,
  onOffered: OnOffered,
  { lane, log, parsed, outcomes, intake, isClosed }: OneByOneDeps,
): Promise<boolean> {
  const { partition } = feed
  const streamFeed = feed.streams[stream]!
  while (streamFeed.cursor.offset < end) {
    const { records, next } = await log.read(partition, STREAMS[stream]!, streamFeed.cursor.offset, READ_BYTES)
    if (records.length === 0) feed.foundNothing(stream, next)
    for (const record of records) {
      const { offset } = record
      if (offset >= end) return true
      const { sourceId, acceptedAt } = record.header
      const isConnected = intake.activity.isConnected(sourceId, partition, offset)
      const events = isConnected ? parsed.eventsOf(partition, record).length : 0
      const sizeBytes = bytesPerEvent(record, events)
      for (let index = offset === streamFeed.cursor.offset ? streamFeed.cursor.index : 0; index < events; index++) {
        if (isClosed() || lane.room === 0) return false
        const onOver = await onOffered({ partition, stream, offset, index, sourceId, acceptedAt, sizeBytes })
        if (onOver === undefined || isClosed()) return false
        // Replays or other lanes may have used the room meanwhile.
        const isLeft = intake.take(feed, stream, record, index, Number.POSITIVE_INFINITY, index + 1) !== undefined
        if (!isLeft) streamFeed.cursor = { offset, index: index + 1 }
        await onOver()
        if (isLeft) return false
      }
      streamFeed.cursor = { offset: offset + 1, index: 0 }
    }
    outcomes.moved()
  }
  return true
}
