import type { JsonObject, JsonValue, StoredEvent } from '@millrace/protocol'
import { templateOf } from './event-templates.ts'
import { type EscapeValue, type Message, messageOf } from './message.ts'

/*
 * What the types that post messages to people share: which events are posted, and with which text.
 */

/** A service to which messages are posted. */
export interface MessageService {
  /** Member of an entry of `eventTemplates` with the rich parts of its message, such as `blocks`. */
  readonly parts: string
  /** Variable with the rich parts for identify events. */
  readonly identifyParts: string
  readonly escapeValue: EscapeValue
}

export interface PostedMessage extends Message {
  /** The entry of `eventTemplates` that fits the event; empty if there is none. */
  readonly entry: JsonObject
}

/**
 * The message for an event; undefined if the configuration does not list the event.
 *
 * @throws Error for a message without a text, and for a track without a name.
 */
export function postedMessage(
  event: StoredEvent,
  config: JsonObject,
  { parts, identifyParts, escapeValue }: MessageService,
): PostedMessage | undefined {
  const { eventTemplates, identifyTemplate } = config
  if (event.type === 'identify') {
    return { ...messageOf(event, identifyTemplate, config[identifyParts], escapeValue), entry: {} }
  }
  if (!hasEntries(eventTemplates)) return { ...messageOf(event, undefined, undefined, escapeValue), entry: {} }
  const entry = templateOf(event, eventTemplates)
  return entry && { ...messageOf(event, entry['text'], entry[parts], escapeValue), entry }
}

/** Identify events only where they are asked for. */
export function acceptsMessage(messageType: string, config: JsonObject, { identifyParts }: MessageService): boolean {
  const { postIdentify, identifyTemplate } = config
  if (messageType !== 'identify') return true
  return postIdentify === true || isText(identifyTemplate) || hasEntries(config[identifyParts])
}

/** With a list of events, only those on it. */
export function wantsMessage(event: StoredEvent, { eventTemplates }: JsonObject): boolean {
  return event.type !== 'track' || !hasEntries(eventTemplates) || templateOf(event, eventTemplates) !== undefined
}

export function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== ''
}

function hasEntries(list: JsonValue | undefined): list is JsonValue[] {
  return Array.isArray(list) && list.length > 0
}
