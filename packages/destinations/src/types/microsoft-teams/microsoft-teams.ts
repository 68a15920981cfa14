import type { JsonObject, JsonValue, StoredEvent } from '@millrace/protocol'
import type { DestinationModule, TransformContext } from '../../definition.ts'
import { acceptsMessage, type PostedMessage, postedMessage, wantsMessage } from '../../messages/posted-message.ts'
import { webhookAddress } from '../../messages/webhook-address.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'
import { definition } from './definition.ts'
import { service } from './service.ts'

/**
 * Posts an Adaptive Card to a workflow of Microsoft Teams. There is no `testConnection`: every request starts the workflow.
 *
 * @see docs/destinations/microsoft-teams.md
 */
export const destination: DestinationModule = {
  definition,
  transform,
  accepts: (messageType, config) => acceptsMessage(messageType, config, service),
  wants: wantsMessage,
}

/** Teams documents about 28 KB. */
const MAX_MESSAGE_BYTES = 28_000

function transform(event: StoredEvent, context: TransformContext): RequestObject[] {
  const message = postedMessage(event, context.config, service)
  if (message === undefined) return []
  const endpoint = webhookAddress(context.config['webhookUrl'], context)
  const signature = URL.parse(endpoint)?.searchParams.get('sig')
  if (signature) context.secret(signature)
  const headers = { 'content-type': 'application/json' }
  return [requestObject({ method: 'POST', endpoint, headers, body: { JSON: cardMessage(message) } })]
}

/** @throws Error for a card that is too large: the workflow accepts it, and fails later without an answer. */
function cardMessage({ text, isOwnText, parts }: PostedMessage): JsonObject {
  const body: JsonValue[] = [...parts]
  if (isOwnText || parts.length === 0) body.unshift({ type: 'TextBlock', text, wrap: true })
  const message = {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.2',
          body,
        },
      },
    ],
  }
  const bytes = Buffer.byteLength(JSON.stringify(message))
  if (bytes > MAX_MESSAGE_BYTES) throw new Error(`the message has ${bytes} bytes; Teams takes ${MAX_MESSAGE_BYTES}`)
  return message
}
