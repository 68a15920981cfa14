import type { StoredBatch } from './enrich.ts'
import type { StoredEvent } from './event.ts'
import { EARLIEST_TIME, formatTime, isOutputForm, LATEST_TIME, parseTime } from './time.ts'

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
  const ownReceivedAt = parseTime(event.receivedAt)
  const receivedAt = ownReceivedAt ?? 0
  const ownSentAt = parseTime(event['sentAt'])
  const sentAt = ownSentAt ?? parseTime(batch.sentAt) ?? receivedAt
  const given = parseTime(event['timestamp'])
  const original = parseTime(event['originalTimestamp'])
  const isCorrected = original !== undefined || batch.rules === 1
  const originalTimestamp = original ?? (isCorrected ? undefined : given) ?? receivedAt
  const timestamp = (isCorrected ? given : undefined) ?? receivedAt - (sentAt - originalTimestamp)
  // A wrong clock could give a year that RFC 3339 cannot write.
  const written = timestamp >= EARLIEST_TIME && timestamp <= LATEST_TIME ? timestamp : receivedAt
  setTime(event, 'receivedAt', receivedAt, ownReceivedAt)
  setTime(event, 'sentAt', sentAt, ownSentAt)
  setTime(event, 'originalTimestamp', originalTimestamp, original)
  setTime(event, 'timestamp', written, given)
}

/** @param given the time that the member says now; most members already have the form of outputs. */
function setTime(event: StoredEvent, member: string, ms: number, given: number | undefined): void {
  if (given !== ms || !isOutputForm(event[member])) event[member] = formatTime(ms)
}
