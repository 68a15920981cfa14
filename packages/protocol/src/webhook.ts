import { normalizedId } from './event-id.ts'
import { isJsonObject, type JsonObject, type JsonValue, ownMember } from './json.ts'
import { derivedMessageId } from './message-id.ts'

/** Paths of an event's members in a webhook body: names joined by dots; "" for none. */
export interface WebhookPaths {
  readonly event: string
  readonly userId: string
  readonly anonymousId: string
  readonly messageId: string
}

const UNNAMED = 'Webhook Received'
/** First index for derived anonymousIds; lower indexes are for messageIds. */
const ANONYMOUS = 0x8000_0000

/**
 * Builds the body of a webhook record: `{"paths":{…},"payload":…}`, with the payload byte for byte as received. It stores the
 * current paths, so that a later change does not affect the record.
 *
 * @param payload JSON, an object or an array of objects.
 */
export function webhookBody(paths: WebhookPaths, payload: Uint8Array): Buffer {
  const { event, userId, anonymousId, messageId } = paths
  const head = `{"paths":${JSON.stringify({ event, userId, anonymousId, messageId })},"payload":`
  return Buffer.concat([Buffer.from(head), payload, Buffer.from('}')])
}

/**
 * Creates a `track` event for each object of a webhook, before enrichment. An event without an id gets an anonymousId derived
 * from the seed and its index, the same for every reader.
 *
 * @param body the parsed body of the record.
 * @see contracts/ingest.md §7
 */
export function webhookEvents(body: JsonObject, seed: Uint8Array): JsonObject[] {
  const paths = body['paths'] as JsonObject & WebhookPaths
  const payload = body['payload'] as JsonObject | JsonObject[]
  return (Array.isArray(payload) ? payload : [payload]).map((properties, index) => {
    const event: JsonObject = { type: 'track', event: textAt(properties, paths.event) ?? UNNAMED }
    const userId = normalizedId(valueAt(properties, paths.userId))
    const anonymousId = normalizedId(valueAt(properties, paths.anonymousId))
    const messageId = textAt(properties, paths.messageId)
    if (userId !== undefined) event['userId'] = userId
    if (anonymousId !== undefined) event['anonymousId'] = anonymousId
    else if (userId === undefined) event['anonymousId'] = derivedMessageId(seed, ANONYMOUS + index)
    if (messageId !== undefined) event['messageId'] = messageId
    event['properties'] = properties
    return event
  })
}

/** A non-empty text, or a number as text. */
function textAt(from: JsonValue, path: string): string | undefined {
  const value = valueAt(from, path)
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

function valueAt(from: JsonValue, path: string): JsonValue | undefined {
  if (path === '') return undefined
  let value: JsonValue | undefined = from
  for (const name of path.split('.')) {
    if (Array.isArray(value)) value = /^\d+$/.test(name) ? value[Number(name)] : undefined
    else value = isJsonObject(value) ? ownMember(value, name) : undefined
  }
  return value
}
