import { isJsonObject, type JsonObject, type JsonValue, setMember } from '@millrace/protocol'
import type { CatalogRequest } from './rewrites.ts'

/** A request in the form of contracts/destinations.md §4. */
export interface CapturedObject {
  readonly version: '1'
  readonly type: 'REST'
  readonly method: string
  readonly endpoint: string
  readonly headers: JsonObject
  readonly params: JsonObject
  readonly body: {
    readonly JSON: JsonObject
    readonly JSON_ARRAY: JsonObject
    readonly XML: JsonObject
    readonly FORM: JsonObject
  }
  readonly files: JsonObject
}

/**
 * A captured request as it is shown. Delivery sends the captured bytes, never what could be made of this.
 *
 * @see contracts/destination-catalog.md §8.3 [C46]
 */
export function capturedObject(request: CatalogRequest): CapturedObject {
  const { method, url, hasDefaultUserAgent } = request
  const address = new URL(url)
  const endpoint = address.origin + address.pathname
  const headers: JsonObject = {}
  for (const [name, value] of Object.entries(request.headers)) {
    if (!(hasDefaultUserAgent && name.toLowerCase() === 'user-agent')) setMember(headers, name, value)
  }
  if (request.bodyIsBase64) headers['x-millrace-body'] = 'base64'
  const body = { JSON: {}, JSON_ARRAY: {}, XML: {}, FORM: {}, ...bodyOf(request) }
  return { version: '1', type: 'REST', method, endpoint, headers, params: pairs(address.searchParams), body, files: {} }
}

function bodyOf({ body, bodyIsBase64, headers }: CatalogRequest): Partial<CapturedObject['body']> {
  if (body === '') return {}
  const contentType = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
  if (bodyIsBase64) return { JSON_ARRAY: { batch: body } }
  if (contentType.includes('x-www-form-urlencoded')) return { FORM: pairs(new URLSearchParams(body)) }
  if (contentType.includes('xml') || body.trimStart().startsWith('<')) return { XML: { payload: body } }
  const parsed = parsedJson(body)
  return isJsonObject(parsed) ? { JSON: parsed } : { JSON_ARRAY: { batch: body } }
}

/** A name that is repeated has a list of values. */
function pairs(given: URLSearchParams): JsonObject {
  const values: JsonObject = {}
  for (const name of new Set(given.keys())) {
    const all = given.getAll(name)
    setMember(values, name, all.length === 1 ? all[0]! : all)
  }
  return values
}

function parsedJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}
