import { type AnswerClass, isJsonObject, type JsonObject, type JsonValue, type StoredEvent } from '@millrace/protocol'
import type { DestinationModule, TransformContext } from '../definition.ts'
import { anonymousId, trackName, userId, withTraits } from '../event-facts.ts'
import { type RequestObject, requestObject } from '../request-object.ts'
import { replacePlaceholders } from '../template.ts'
import { definition } from './definition.ts'

/**
 * Posts a message to the channel of an incoming webhook.
 *
 * @see docs/destinations/slack.md
 */
export const destination: DestinationModule = { definition, transform, accepts, wants, classify }

function transform(event: StoredEvent, { config, secret }: TransformContext): RequestObject[] {
  const { webhookUrl } = config
  if (typeof webhookUrl !== 'string' || webhookUrl === '') throw new Error('Invalid URL in destination config')
  // The path alone is enough to post to the channel.
  const path = URL.parse(webhookUrl)?.pathname
  if (path !== undefined && path !== '/') secret(path)
  const text = event.type === 'identify' ? filled(config['identifyTemplate'], event) : trackText(event, config)
  if (text === undefined) return []
  if (text.trim() === '') throw new Error('the message has no text')
  const headers = { 'content-type': 'application/json' }
  return [requestObject({ method: 'POST', endpoint: webhookUrl, headers, body: { JSON: { text } } })]
}

function accepts(messageType: string, { identifyTemplate }: JsonObject): boolean {
  return messageType !== 'identify' || (typeof identifyTemplate === 'string' && identifyTemplate !== '')
}

/** With a list of events, only those on it. */
function wants(event: StoredEvent, { eventTemplates }: JsonObject): boolean {
  return event.type !== 'track' || !hasEntries(eventTemplates) || templateOf(event, eventTemplates) !== undefined
}

/** An error may come with status 200, as everywhere in Slack's API. */
function classify({ status, body }: { status: number; body: unknown }): AnswerClass | undefined {
  if (status < 200 || status > 299 || !isJsonObject(body) || body['ok'] !== false) return undefined
  return RATE_LIMITED.has(String(body['error'])) ? 'retry' : 'abort'
}

const RATE_LIMITED = new Set(['ratelimited', 'rate_limited'])

/** @returns undefined for an event that is not among those that are listed. */
function trackText(event: StoredEvent, { eventTemplates }: JsonObject): string | undefined {
  if (!hasEntries(eventTemplates)) return defaultText(event)
  const template = templateOf(event, eventTemplates)
  return template === undefined ? undefined : filled(template['text'], event) || defaultText(event)
}

function hasEntries(list: JsonValue | undefined): list is JsonValue[] {
  return Array.isArray(list) && list.length > 0
}

function templateOf(event: StoredEvent, templates: readonly JsonValue[]): JsonObject | undefined {
  return templates.filter(isJsonObject).find(({ eventName }) => eventName === event['event'])
}

function defaultText(event: StoredEvent): string {
  const user = userId(event) ?? anonymousId(event)
  const name = escapeText(trackName(event))
  return user === undefined ? name : `${name} by ${escapeText(user)}`
}

/** The text with the values of the event; where it has none, with nothing in their place. */
function filled(template: JsonValue | undefined, event: StoredEvent): string {
  return replacePlaceholders(String(template ?? ''), withTraits(event), escapeText).text
}

/** Of what an event says nothing becomes a link, or calls everybody in the channel. */
function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
