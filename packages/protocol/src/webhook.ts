import { normalizedId } from './event-id.ts'
import { isJsonObject, type JsonObject, type JsonValue, ownMember } from './json.ts'
import { derivedMessageId } from './message-id.ts'

/** Where the events of a webhook are found in what the service sends: names joined by dots; "" where nothing is looked for. */
export interface WebhookPaths {
  readonly event: string
  readonly userId: string
  readonly anonymousId: string
  readonly messageId: string
}

const UNNAMED = 'Webhook Received'
/** What is derived for anonymousIds lies behind the indexes that messageIds are derived for. */
const ANONYMOUS = 0x8000_0000

/**
 * The body of a record of a webhook: `{"paths":{…},"payload":…}`, the payload byte for byte as it was received. The paths are those of the
 * moment, so that a record is read the same after they have been changed.
 *
 * @param payload JSON, an object or an array of objects.
 */
export function webhookBody(paths: WebhookPaths, payload: Uint8Array): Buffer {
  const { event, userId, anonymousId, messageId } = paths
  const head = `{"paths":${JSON.stringify({ event, userId, anonymousId, messageId })},"payload":`
  return Buffer.concat([Buffer.from(head), payload, Buffer.from('}')])
}

/**
 * A `track` event for each object of a webhook, before enrichment. An event without an id gets an anonymousId that is made of the seed and
 * its index: the same one for every reader.
 *
 * @param body of the record, parsed.
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

/** A text with something in it, or a number as text. */
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
