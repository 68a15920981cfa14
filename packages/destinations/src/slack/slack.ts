import { type AnswerClass, isJsonObject, type JsonObject, type JsonValue, type StoredEvent } from '@millrace/protocol'
import type { DestinationModule, TransformContext } from '../definition.ts'
import { type RequestObject, requestObject } from '../request-object.ts'
import { definition } from './definition.ts'
import { templateOf } from './event-templates.ts'
import { messageOf, type SlackMessage } from './message.ts'

/**
 * Posts a message to the channel of an incoming webhook, or with a bot token to any channel of the app.
 *
 * @see docs/destinations/slack.md
 */
export const destination: DestinationModule = { definition, transform, accepts, wants, classify }

function transform(event: StoredEvent, context: TransformContext): RequestObject[] {
  const { eventTemplates, identifyTemplate, identifyBlocks } = context.config
  if (event.type === 'identify') return [posted(messageOf(event, identifyTemplate, identifyBlocks), undefined, context)]
  if (!hasEntries(eventTemplates)) return [posted(messageOf(event, undefined, undefined), undefined, context)]
  const template = templateOf(event, eventTemplates)
  if (template === undefined) return []
  return [posted(messageOf(event, template['text'], template['blocks']), template['channel'], context)]
}

function accepts(messageType: string, { postIdentify, identifyTemplate, identifyBlocks }: JsonObject): boolean {
  return messageType !== 'identify' || postIdentify === true || isText(identifyTemplate) || hasEntries(identifyBlocks)
}

/** With a list of events, only those on it. */
function wants(event: StoredEvent, { eventTemplates }: JsonObject): boolean {
  return event.type !== 'track' || !hasEntries(eventTemplates) || templateOf(event, eventTemplates) !== undefined
}

/** An error may come with status 200, as everywhere in Slack's API. */
function classify({ status, body }: { status: number; body: unknown }): AnswerClass | undefined {
  if (status < 200 || status > 299 || !isJsonObject(body) || body['ok'] !== false) return undefined
  return PASSING.has(String(body['error'])) ? 'retry' : 'abort'
}

/** Slack's own trouble, and a token that has to be renewed: as with an answer 401, the events wait for it. */
const PASSING = new Set(['ratelimited', 'rate_limited', 'internal_error', 'invalid_auth', 'account_inactive'])

function posted(message: SlackMessage, ofEvent: JsonValue | undefined, context: TransformContext): RequestObject {
  const { webhookUrl, botToken, channel } = context.config
  const headers: JsonObject = { 'content-type': 'application/json' }
  if (!isText(botToken)) {
    return requestObject({
      method: 'POST',
      endpoint: hook(webhookUrl, context),
      headers,
      body: { JSON: { ...message } },
    })
  }
  const place = [ofEvent, channel].find(isText)
  if (place === undefined) throw new Error('channel is missing: a bot token needs one')
  headers['authorization'] = context.bearer(botToken)
  const endpoint = 'https://slack.com/api/chat.postMessage'
  return requestObject({ method: 'POST', endpoint, headers, body: { JSON: { channel: place, ...message } } })
}

function hook(webhookUrl: JsonValue | undefined, { secret }: TransformContext): string {
  if (!isText(webhookUrl)) throw new Error('Invalid URL in destination config')
  // The path alone is enough to post to the channel.
  const path = URL.parse(webhookUrl)?.pathname
  if (path !== undefined && path !== '/') secret(path)
  return webhookUrl
}

function hasEntries(list: JsonValue | undefined): list is JsonValue[] {
  return Array.isArray(list) && list.length > 0
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== ''
}
