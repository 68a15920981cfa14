import { envelopeMembers, mergeEnvelope } from './envelope.ts'
import type { StoredEvent } from './event.ts'
import { normalizedId } from './event-id.ts'
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'
import { messageIdOf } from './message-id.ts'
import { pixelEvent } from './pixel.ts'
import { type EventRecord, RecordFormatError, type RecordHeader } from './record.ts'
import { formatTime, parseTime } from './time.ts'
import { webhookEvents } from './webhook.ts'

/*
 * The rules by number (ENRICHMENT_RULES). Records keep the number they were accepted under.
 *
 *   2  `context` and `integrations` of a batch's envelope are merged into its events; no event keeps `writeKey` or `_metadata`;
 *      an event's `timestamp` stands in for its `originalTimestamp` (delivery-times.ts)
 *   1  of the envelope only `sentAt` is used; single events lose `writeKey`, other events lose no member
 */

export interface StoredBatch {
  readonly events: StoredEvent[]
  /** `sentAt` of the batch envelope, kept beside its events. */
  readonly sentAt: JsonValue | undefined
  /** Number of the rules that produced the events. */
  readonly rules: number
}

/**
 * Derives the stored events of a record. A pure function of its header and bytes, so live reads and replays see the same
 * events. Returns new objects at each call.
 *
 * @param parsed the parsed bytes, if available; the result reuses them.
 * @see contracts/ingest.md §5
 */
export function storedEvents(record: EventRecord, parsed?: JsonObject): StoredBatch {
  const { header, body } = record
  const { rules } = header
  switch (header.route) {
    case 'pixel-track':
    case 'pixel-page': {
      const type = header.route === 'pixel-track' ? 'track' : 'page'
      const event = pixelEvent(latin1(body), type, formatTime(header.acceptedAt))
      return { events: [enrich(event, header, 0)], sentAt: undefined, rules }
    }
    case 'batch':
    case 'backfill': {
      const envelope = parsed ?? parseBody(body)
      const elements = envelope['batch'] as JsonObject[]
      const given = rules === 1 ? undefined : envelopeMembers(envelope)
      const events = elements.map((element, index) => {
        if (rules > 1) removeClientMembers(element)
        if (given !== undefined) mergeEnvelope(element, given)
        return enrich(element, header, index)
      })
      return { events, sentAt: envelope['sentAt'], rules }
    }
    case 'webhook': {
      const events = webhookEvents(parsed ?? parseBody(body), header.seed)
      return { events: events.map((event, index) => enrich(event, header, index)), sentAt: undefined, rules }
    }
    default: {
      const event = parsed ?? parseBody(body)
      event['type'] = header.route
      if (rules > 1) removeClientMembers(event)
      else if (Object.hasOwn(event, 'writeKey')) delete event['writeKey']
      return { events: [enrich(event, header, 0)], sentAt: undefined, rules }
    }
  }
}

/** Removes members that are meant for the server: the write key, and the library's loaded integrations. */
function removeClientMembers(event: JsonObject): void {
  if (event['writeKey'] !== undefined) delete event['writeKey']
  if (event['_metadata'] !== undefined) delete event['_metadata']
}

function enrich(event: JsonObject, header: RecordHeader, index: number): StoredEvent {
  enrichId(event, 'userId')
  enrichId(event, 'anonymousId')
  event['messageId'] = messageIdOf(event['messageId'], header.seed, index)
  if (parseTime(event['receivedAt']) === undefined) event['receivedAt'] = formatTime(header.acceptedAt)
  const ip = event['request_ip']
  if (typeof ip !== 'string' || ip === '') event['request_ip'] = header.clientAddress
  return event as StoredEvent
}

function enrichId(event: JsonObject, member: 'userId' | 'anonymousId'): void {
  const given = event[member]
  if (given === undefined) return
  if (typeof given === 'string' || typeof given === 'number') event[member] = normalizedId(given) ?? ''
  else delete event[member]
}

/** Parses the body of an accepted record, which is always a JSON object in UTF-8. */
function parseBody(body: Uint8Array): JsonObject {
  const buffer = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const parsed: unknown = JSON.parse(buffer.toString('utf8'))
  if (!isJsonObject(parsed)) throw new RecordFormatError('record does not hold a JSON object')
  return parsed
}

function latin1(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1')
}
