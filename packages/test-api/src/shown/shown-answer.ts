import type { Answered } from '@millrace/pipeline'
import { isJsonObject, isNestedDeeper, type JsonObject, type JsonValue } from '@millrace/protocol'

/** What is nested deeper is shown as text: it could not be written as JSON again. */
const MAX_DEPTH = 200

/**
 * An element of `destination_response`: the destination's body if that is a JSON object, any other under `body`, or why
 * there is none.
 *
 * @param maxCharacters of a text that is kept.
 * @see contracts/test-api.md §6 [D216, D217]
 */
export function shownAnswer(answered: Answered, maxCharacters: number): JsonObject {
  if (answered.kind !== 'answer') return { success: false, error: { message: answered.text, id: null } }
  // Compressed without being asked for it is no text.
  const whole = isEncoded(answered) ? '' : new TextDecoder().decode(answered.bytes, { stream: answered.isCut })
  const text = whole.slice(0, maxCharacters)
  const value = answered.isCut || text.length < whole.length ? undefined : parsed(text)
  if (isJsonObject(value)) return value
  if (value !== undefined) return { body: value }
  return { body: /text|xml|json/i.test(String(answered.headers['content-type'] ?? '')) ? text : '' }
}

function parsed(text: string): JsonValue | undefined {
  try {
    const value = JSON.parse(text) as JsonValue
    return typeof value === 'object' && value !== null && isNestedDeeper(value, MAX_DEPTH) ? undefined : value
  } catch {
    return undefined
  }
}

function isEncoded({ headers }: Extract<Answered, { kind: 'answer' }>): boolean {
  return !['', 'identity'].includes(String(headers['content-encoding'] ?? ''))
}
