import { isJsonObject, type JsonObject, type Judgement, type StoredEvent } from '@millrace/protocol'
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
 * Posts a message to the channel of an incoming webhook, or with a bot token to any channel of the app.
 *
 * @see docs/destinations/slack.md
 */
export const destination: DestinationModule = {
  definition,
  transform,
  accepts: (messageType, config) => acceptsMessage(messageType, config, service),
  wants: wantsMessage,
  classify,
}

function transform(event: StoredEvent, context: TransformContext): RequestObject[] {
  const message = postedMessage(event, context.config, service)
  return message === undefined ? [] : [posted(message, context)]
}

/** An error may come with status 200, as everywhere in Slack's API. */
function classify({ status, body }: { status: number; body: unknown }): Judgement | undefined {
  if (status < 200 || status > 299 || !isJsonObject(body) || body['ok'] !== false) return undefined
  return STATUS_OF.get(String(body['error'])) ?? 'abort'
}

/** What the token may not do: an administrator has to allow it. */
const NOT_ALLOWED = [
  'missing_scope',
  'no_permission',
  'not_allowed_token_type',
  'access_denied',
  'accesslimited',
  'ekm_access_denied',
  'enterprise_is_restricted',
  'org_login_required',
  'team_access_not_granted',
  'two_factor_setup_required',
]

/** The status that an error stands for: of a refused token, of what it may not do, of the rate limit, of Slack's own trouble. */
const STATUS_OF = new Map([
  ...['invalid_auth', 'not_authed', 'account_inactive', 'token_expired', 'token_revoked'].map(statusOf(401)),
  ...NOT_ALLOWED.map(statusOf(403)),
  ...['ratelimited', 'rate_limited'].map(statusOf(429)),
  ...['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout', 'team_added_to_org'].map(
    statusOf(503),
  ),
])

function statusOf(status: number) {
  return (error: string) => [error, status] as const
}

/** The text is what notifications show; blocks replace it in the channel. */
function posted({ text, parts, entry }: PostedMessage, context: TransformContext): RequestObject {
  const { webhookUrl, botToken, channel } = context.config
  const message: JsonObject = parts.length === 0 ? { text } : { text, blocks: [...parts] }
  const headers: JsonObject = { 'content-type': 'application/json' }
  if (!isText(botToken)) {
    const endpoint = webhookAddress(webhookUrl, context)
    return requestObject({ method: 'POST', endpoint, headers, body: { JSON: message } })
  }
  const place = [entry['channel'], channel].find(isText)
  if (place === undefined) throw new Error('channel is missing: a bot token needs one')
  headers['authorization'] = context.bearer(botToken)
  const endpoint = 'https://slack.com/api/chat.postMessage'
  return requestObject({ method: 'POST', endpoint, headers, body: { JSON: { channel: place, ...message } } })
}
