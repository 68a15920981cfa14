import type { StoredEvent } from './event.ts'
import type { JsonValue } from './json.ts'
import { formatTime, parseTime } from './time.ts'

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
  // Absurd clocks could lead out of the years 0 to 9999, which RFC 3339 cannot write.
  event['timestamp'] = formatTime(timestamp >= EARLIEST && timestamp <= LATEST ? timestamp : receivedAt)
}

const EARLIEST = Date.parse('0000-01-01T00:00:00.000Z')
const LATEST = Date.parse('9999-12-31T23:59:59.999Z')
