import type { JsonObject, StoredEvent } from '@millrace/protocol'
import type { DestinationModule, TransformContext } from '../../definition.ts'
import {
  acceptsMessage,
  isText,
  type PostedMessage,
  postedMessage,
  wantsMessage,
} from '../../messages/posted-message.ts'
import { webhookAddress } from '../../messages/webhook-address.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'
import { definition } from './definition.ts'
import { service } from './service.ts'

/**
 * Posts a message to the channel of a Discord webhook, or to a thread of it.
 *
 * @see docs/destinations/discord.md
 */
export const destination: DestinationModule = {
  definition,
  transform,
  testConnection,
  accepts: (messageType, config) => acceptsMessage(messageType, config, service),
  wants: wantsMessage,
}

const MAX_CONTENT = 2_000

function transform(event: StoredEvent, context: TransformContext): RequestObject[] {
  const message = postedMessage(event, context.config, service)
  return message === undefined ? [] : [posted(message, context)]
}

/** Reads the webhook by its address: Discord answers with its name and channel, and posts nothing. */
function testConnection(context: TransformContext): RequestObject {
  return requestObject({ method: 'GET', endpoint: webhookAddress(context.config['webhookUrl'], context) })
}

function posted({ text, isOwnText, parts, entry }: PostedMessage, context: TransformContext): RequestObject {
  const { webhookUrl, threadId, username, avatarUrl, allowMentions } = context.config
  const message: JsonObject = {}
  if (isOwnText || parts.length === 0) message['content'] = shortened(text)
  if (parts.length > 0) message['embeds'] = [...parts]
  if (isText(username)) message['username'] = username
  if (isText(avatarUrl)) message['avatar_url'] = avatarUrl
  if (allowMentions !== true) message['allowed_mentions'] = { parse: [] }
  const thread = [entry['threadId'], threadId].find(isText)
  return requestObject({
    method: 'POST',
    endpoint: webhookAddress(webhookUrl, context),
    headers: { 'content-type': 'application/json' },
    // Without `wait` Discord reports no message that it could not store.
    params: { wait: 'true', ...(thread === undefined ? {} : { thread_id: thread }) },
    body: { JSON: message },
  })
}

/** Discord refuses a longer text, and so the whole message. */
function shortened(text: string): string {
  return text.length <= MAX_CONTENT ? text : `${text.slice(0, MAX_CONTENT - 1).toWellFormed()}…`
}
