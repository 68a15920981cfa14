import { isJsonObject, type JsonObject, type JsonValue, type StoredEvent, setMember } from '@millrace/protocol'
import { anonymousId, trackName, userId } from '../event/event-facts.ts'
import { placeholderValues, userName } from './placeholder-values.ts'
import { replacePlaceholders } from './template.ts'

/** Makes a value of an event fit a text of the service, so that it cannot mention people or create links. */
export type EscapeValue = (value: string) => string

/** A text with rich parts, such as Slack's blocks. */
export interface Message {
  readonly text: string
  /** False for the default text: a service may leave it out beside parts. */
  readonly isOwnText: boolean
  readonly parts: readonly JsonValue[]
}

/**
 * The message of an event by a template, or by default.
 *
 * @throws Error for a message without a text, and for a track without a name.
 */
export function messageOf(
  event: StoredEvent,
  template: JsonValue | undefined,
  parts: JsonValue | undefined,
  escapeValue: EscapeValue,
): Message {
  const values = placeholderValues(event)
  const own = filledText(String(template ?? ''), values, escapeValue)
  const text = own === '' ? defaultText(event, escapeValue) : own
  if (text.trim() === '') throw new Error('the message has no text')
  const filled = Array.isArray(parts) ? parts.map((part) => filledPart(part, values, '', escapeValue)) : []
  return { text, isOwnText: own !== '', parts: filled }
}

function defaultText(event: StoredEvent, escapeValue: EscapeValue): string {
  if (event.type === 'identify') return `Identified ${escapeValue(userName(event) ?? 'a user')}`
  const user = userId(event) ?? anonymousId(event)
  const name = escapeValue(trackName(event))
  return user === undefined ? name : `${name} by ${escapeValue(user)}`
}

/** The text with the values of the event; where it has none, with nothing in their place. */
function filledText(template: string, values: JsonObject, escapeValue: EscapeValue): string {
  return replacePlaceholders(template, values, escapeValue).text
}

/** A part with every text in it filled. An address is taken as it is: in JSON only the texts of a message are markup. */
function filledPart(part: JsonValue, values: JsonObject, name: string, escapeValue: EscapeValue): JsonValue {
  if (typeof part === 'string')
    return filledText(part, values, name.toLowerCase().endsWith('url') ? asItIs : escapeValue)
  if (Array.isArray(part)) return part.map((element) => filledPart(element, values, name, escapeValue))
  if (!isJsonObject(part)) return part
  const filled: JsonObject = {}
  for (const [member, value] of Object.entries(part))
    setMember(filled, member, filledPart(value, values, member, escapeValue))
  return filled
}

function asItIs(text: string): string {
  return text
}
