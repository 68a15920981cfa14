import { isJsonObject, type JsonObject, type JsonValue, type StoredEvent, setMember } from '@millrace/protocol'
import { anonymousId, trackName, userId } from '../event-facts.ts'
import { replacePlaceholders } from '../template.ts'
import { placeholderValues, userName } from './placeholders.ts'

/** What is posted: the text, which notifications show, and the blocks, which replace it in the channel. */
export interface SlackMessage {
  readonly text: string
  readonly blocks?: JsonValue
}

/**
 * The message of an event by a template, or by default.
 *
 * @throws Error for a message without a text, and for a track without a name.
 */
export function messageOf(
  event: StoredEvent,
  template: JsonValue | undefined,
  blocks: JsonValue | undefined,
): SlackMessage {
  const values = placeholderValues(event)
  const text = filledText(String(template ?? ''), values) || defaultText(event)
  if (text.trim() === '') throw new Error('the message has no text')
  return Array.isArray(blocks) && blocks.length > 0 ? { text, blocks: filledBlock(blocks, values, '') } : { text }
}

function defaultText(event: StoredEvent): string {
  if (event.type === 'identify') return `Identified ${escapeText(userName(event) ?? 'a user')}`
  const user = userId(event) ?? anonymousId(event)
  const name = escapeText(trackName(event))
  return user === undefined ? name : `${name} by ${escapeText(user)}`
}

/** The text with the values of the event; where it has none, with nothing in their place. */
function filledText(template: string, values: JsonObject): string {
  return replacePlaceholders(template, values, escapeText).text
}

/** A block with every text in it filled. An address is taken as it is: in JSON only the texts of a message are markup. */
function filledBlock(block: JsonValue, values: JsonObject, name: string): JsonValue {
  if (typeof block === 'string') {
    return name.endsWith('url') ? replacePlaceholders(block, values, asItIs).text : filledText(block, values)
  }
  if (Array.isArray(block)) return block.map((element) => filledBlock(element, values, name))
  if (!isJsonObject(block)) return block
  const filled: JsonObject = {}
  for (const [member, value] of Object.entries(block)) setMember(filled, member, filledBlock(value, values, member))
  return filled
}

/** Of what an event says nothing becomes a link, or calls everybody in the channel. */
function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function asItIs(text: string): string {
  return text
}
