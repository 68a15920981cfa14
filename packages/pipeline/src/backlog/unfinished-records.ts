import type { DeliveryStore, KeptRecord } from '@millrace/delivery'
import { duplicateBytes, framedRecords, type OffsetRange, STREAMS, type StoredRecord, streamOf } from '@millrace/log'
import { encodedSize, encodeRecord, eventCount } from '@millrace/protocol'
import type { DestinationDelivery } from '../delivery/destination-delivery.ts'
import type { BackedLog } from './backed-log.ts'

/** Bytes read and copied in one transaction: small, because outcomes wait for it. */
const READ_BYTES = 1024 * 1024

export interface UnfinishedRecordsOptions {
  readonly backed: BackedLog
  readonly store: Pick<DeliveryStore, 'backlog'>
  readonly deliveries: () => Iterable<DestinationDelivery>
}

/**
 * Copies the records of a range that some destination still needs into the backlog, before the log deletes the range.
 *
 * @returns the number of copied records.
 */
export async function keepUnfinished(
  partition: number,
  { from, to }: OffsetRange,
  { backed, store, deliveries }: UnfinishedRecordsOptions,
): Promise<number> {
  const isUnfinished = unfinishedIn(partition, { from, to }, [...deliveries()])
  let copied = 0
  for (let at = from; at < to; ) {
    const { frames, next } = await backed.scan(partition, at, READ_BYTES)
    const records = [...framedRecords(frames)].filter((record) => record.offset < to && isUnfinished(record))
    if (records.length > 0) await store.backlog.keepRecords({ partition, records: records.map(keptRecord) })
    copied += records.length
    if (frames.length === 0) break
    at = next
  }
  if (copied > 0) await backed.refresh()
  return copied
}

/**
 * The events that are unfinished now. Copies of events that finish later are wasted; finished events do not start
 * again.
 */
function unfinishedIn(
  partition: number,
  { from, to }: OffsetRange,
  deliveries: readonly DestinationDelivery[],
): (record: StoredRecord) => boolean {
  const takenUp = new Set<number>()
  for (const { lane } of deliveries) {
    for (const { partition: of, offset, replayed } of lane.unfinished()) {
      // A dead letter stores its event.
      if (of === partition && from <= offset && offset < to && replayed?.letterId === undefined) takenUp.add(offset)
    }
  }
  const readers = deliveries.map(({ feed }) => ({
    activity: feed.activity,
    cursors: STREAMS.map((_, stream) => feed.cursor(partition, stream).offset),
  }))
  return ({ offset, header }) => {
    const stream = STREAMS.indexOf(streamOf(header))
    return (
      takenUp.has(offset) ||
      readers.some(({ activity, cursors }) => {
        return offset >= cursors[stream]! && activity.isConnected(header.sourceId, partition, offset)
      })
    )
  }
}

function keptRecord(record: StoredRecord): KeptRecord {
  const { offset, header, duplicates } = record
  const bytes = Buffer.alloc(encodedSize(record))
  encodeRecord(record, bytes, 0)
  return {
    offset,
    stream: STREAMS.indexOf(streamOf(header)),
    sourceId: header.sourceId,
    events: eventCount(header) - (duplicates?.size ?? 0),
    bytes,
    duplicates: duplicates === undefined ? null : duplicateBytes(duplicates),
  }
}
