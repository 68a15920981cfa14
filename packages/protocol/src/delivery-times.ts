import type { StoredBatch } from './enrich.ts'
import type { StoredEvent } from './event.ts'
import { EARLIEST_TIME, formatTime, LATEST_TIME, parseTime } from './time.ts'

/**
 * Sets the four times of an event that is read for delivery. `originalTimestamp` and `sentAt` use the device's clock, so
 * the event happened `sentAt − originalTimestamp` before it was received: that is its `timestamp`. Many libraries send only
 * `timestamp`; it uses the device's clock too, and replaces `originalTimestamp` from rules 2 on. A `timestamp` beside an
 * `originalTimestamp` is already corrected, and is kept. Changes the event in place.
 *
 * @param batch the event's batch.
 * @see contracts/ingest.md §5, the table of times at take-up
 */
export function setDeliveryTimes(event: StoredEvent, batch: Pick<StoredBatch, 'sentAt' | 'rules'>): void {
  const receivedAt = parseTime(event.receivedAt) ?? 0
  const sentAt = parseTime(event['sentAt']) ?? parseTime(batch.sentAt) ?? receivedAt
  const given = parseTime(event['timestamp'])
  const original = parseTime(event['originalTimestamp'])
  const isCorrected = original !== undefined || batch.rules === 1
  const originalTimestamp = original ?? (isCorrected ? undefined : given) ?? receivedAt
  const timestamp = (isCorrected ? given : undefined) ?? receivedAt - (sentAt - originalTimestamp)
  event.receivedAt = formatTime(receivedAt)
  event['sentAt'] = formatTime(sentAt)
  event['originalTimestamp'] = formatTime(originalTimestamp)
  // A wrong clock could give a year that RFC 3339 cannot write.
  event['timestamp'] = formatTime(timestamp >= EARLIEST_TIME && timestamp <= LATEST_TIME ? timestamp : receivedAt)
}
