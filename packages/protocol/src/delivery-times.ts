import type { StoredEvent } from './event.ts'
import type { JsonValue } from './json.ts'
import { EARLIEST_TIME, formatTime, LATEST_TIME, parseTime } from './time.ts'

/**
 * Sets the four times of an event that is taken up for delivery; the device's clock error is the time between
 * `originalTimestamp` and `sentAt`, both by that clock, and is taken out of `timestamp`. Changes the event in place.
 *
 * @param envelopeSentAt `sentAt` of the batch that the event came in.
 * @see contracts/ingest.md §5, the table of times at take-up
 */
export function setDeliveryTimes(event: StoredEvent, envelopeSentAt: JsonValue | undefined): void {
  const receivedAt = parseTime(event.receivedAt) ?? 0
  const sentAt = parseTime(event['sentAt']) ?? parseTime(envelopeSentAt) ?? receivedAt
  const originalTimestamp = parseTime(event['originalTimestamp']) ?? receivedAt
  const timestamp = parseTime(event['timestamp']) ?? receivedAt - (sentAt - originalTimestamp)
  event.receivedAt = formatTime(receivedAt)
  event['sentAt'] = formatTime(sentAt)
  event['originalTimestamp'] = formatTime(originalTimestamp)
  // Absurd clocks could lead out of the years that can be written.
  event['timestamp'] = formatTime(timestamp >= EARLIEST_TIME && timestamp <= LATEST_TIME ? timestamp : receivedAt)
}
