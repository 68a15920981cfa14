import { isJsonObject, type JsonObject, type JsonValue, type StoredEvent } from '@millrace/protocol'
import { fill, fillText } from '../../messages/template.ts'
import type { RequestObject } from '../../requests/request-object.ts'

type Body = { body?: Partial<RequestObject['body']>; contentType?: string }

const CARRIES_EVENT = new Set(['POST', 'PUT', 'PATCH'])

/**
 * The body that a configuration describes for an event, and its content type.
 *
 * @param values the event as placeholders see it.
 * @throws Error if the configuration describes none.
 */
export function describedBody(
  { bodyFormat, body: given }: JsonObject,
  method: string,
  event: StoredEvent,
  values: JsonObject,
): Body {
  const template = given ?? undefined
  switch (bodyFormat) {
    case undefined:
    case null:
    case '':
    case 'JSON':
      if (template !== undefined) return jsonBody(fill(template, values))
      return CARRIES_EVENT.has(method) ? jsonBody(event) : {}
    case 'FORM': {
      const form = fill(template ?? '', values)
      if (!isJsonObject(form)) throw new Error('body must be an object of form fields')
      return { body: { FORM: form }, contentType: 'application/x-www-form-urlencoded' }
    }
    case 'XML': {
      if (typeof template !== 'string') throw new Error('body must be a text of XML')
      const payload = fillText(template, values, escapeXml)
      if (payload === undefined) throw new Error('the event has no value for a placeholder of body')
      return { body: { XML: { payload } }, contentType: 'application/xml' }
    }
    case 'NONE':
      return {}
    default:
      throw new Error(`Unsupported bodyFormat ${String(bodyFormat)}`)
  }
}

function jsonBody(value: JsonValue | undefined): Body {
  const contentType = 'application/json'
  if (isJsonObject(value)) {
    // An empty JSON member means no body. An object whose members all had no value is still sent, as `{}`.
    const isEmpty = Object.keys(value).length === 0
    return { body: isEmpty ? { JSON_ARRAY: { batch: '{}' } } : { JSON: value }, contentType }
  }
  if (Array.isArray(value)) return { body: { JSON_ARRAY: { batch: JSON.stringify(value) } }, contentType }
  throw new Error('body must be an object or a list')
}

const XML_ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => XML_ENTITIES[character]!)
}
