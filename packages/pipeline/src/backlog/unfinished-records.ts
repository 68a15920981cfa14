import type { DeliveryStore, KeptRecord } from '@millrace/delivery'
import { duplicateBytes, framedRecords, type OffsetRange, STREAMS, type StoredRecord, streamOf } from '@millrace/log'
import { encodedSize, encodeRecord, eventCount } from '@millrace/protocol'
import type { DestinationDelivery } from '../delivery/destination-delivery.ts'
import type { BackedLog } from './backed-log.ts'

/** Bytes read and copied in one transaction: small, because outcomes wait for it. */
const READ_BYTES = 1024 * 1024
/** Records that are read and copied together. */
const TOGETHER = 100

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
  const { isUnfinished, first } = unfinishedIn(partition, { from, to }, [...deliveries()])
  let copied = 0
  for (let at = first; at < to; ) {
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
 * Copies the records of events of log replays that lie before an offset: a replay may take events up after their range was
 * copied.
 *
 * @param known offsets that are copied already; receives the new ones.
 */
export async function keepReplayed(
  partition: number,
  before: number,
  known: Set<number>,
  { backed, store, deliveries }: UnfinishedRecordsOptions,
): Promise<void> {
  const wanted = new Set<number>()
  for (const { lane } of deliveries()) {
    for (const { partition: of, offset, replayed } of lane.unfinished()) {
      const isOfLog = replayed !== undefined && replayed.letterId === undefined
      if (isOfLog && of === partition && offset < before) wanted.add(offset)
    }
  }
  for (const offset of known) if (!wanted.has(offset)) known.delete(offset)
  const fresh = [...wanted].filter((offset) => !known.has(offset))
  for (let at = 0; at < fresh.length; at += TOGETHER) {
    const offsets = fresh.slice(at, at + TOGETHER)
    const records = (await backed.get(partition, offsets)).filter((record) => record !== undefined)
    if (records.length > 0) await store.backlog.keepRecords({ partition, records: records.map(keptRecord) })
    for (const offset of offsets) known.add(offset)
  }
  if (fresh.length > 0) await backed.refresh()
}

/**
 * The events that are unfinished now. Copies of events that finish later are wasted; finished events do not start
 * again.
 */
function unfinishedIn(
  partition: number,
  { from, to }: OffsetRange,
  deliveries: readonly DestinationDelivery[],
): { readonly isUnfinished: (record: StoredRecord) => boolean; readonly first: number } {
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
  const places = [...readers.flatMap(({ cursors }) => cursors), ...takenUp]
  const first = places.reduce((least, place) => Math.min(least, place), Number.POSITIVE_INFINITY)
  const isUnfinished = ({ offset, header }: StoredRecord) => {
    const stream = STREAMS.indexOf(streamOf(header))
    return (
      takenUp.has(offset) ||
      readers.some(({ activity, cursors }) => {
        return offset >= cursors[stream]! && activity.isConnected(header.sourceId, partition, offset)
      })
    )
  }
  return { isUnfinished, first: Math.max(from, first) }
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
