import { isJsonObject, type JsonObject, type JsonValue, setMember } from '@millrace/protocol'
import { filledBody, isFilled, type RequestObject } from './request-object.ts'

/** A request as it goes over the network. */
export interface WireRequest {
  readonly method: string
  readonly url: string
  /** Header names differ also without letter case. */
  readonly headers: Record<string, string>
  /** Empty when there is no body. */
  readonly body: string
}

export const MAX_BODY_BYTES = 4_096_000

/**
 * Turns a request object into what is sent.
 *
 * @param userAgent sent unless the request's headers name another one.
 * @throws Error for more than one body, or one that is too large.
 * @see contracts/destinations.md §4, "On the wire"
 */
export function toWire(request: RequestObject, userAgent: string): WireRequest {
  const { body, contentType } = wireBody(request.body)
  if (body.length > MAX_BODY_BYTES / 3 && Buffer.byteLength(body) > MAX_BODY_BYTES) {
    throw new Error('request body is too large')
  }
  const headers = wireHeaders(request.headers)
  if (contentType !== undefined && !hasHeader(headers, 'content-type')) headers['content-type'] = contentType
  if (!hasHeader(headers, 'user-agent')) headers['user-agent'] = userAgent
  return { method: request.method, url: withParams(request.endpoint, request.params), headers, body }
}

function wireBody(body: RequestObject['body']): { body: string; contentType: string | undefined } {
  switch (filledBody(body)) {
    case 'JSON':
      return { body: JSON.stringify(body.JSON), contentType: 'application/json' }
    case 'JSON_ARRAY':
      return { body: asText(body.JSON_ARRAY['batch']), contentType: 'application/json' }
    case 'XML':
      return { body: asText(body.XML['payload']), contentType: 'application/xml' }
    case 'FORM':
      return { body: encodePairs(body.FORM), contentType: 'application/x-www-form-urlencoded' }
    default:
      return { body: '', contentType: undefined }
  }
}

/** Names that are equal without letter case are one header; the later one counts, as it is written. */
function wireHeaders(given: JsonObject): Record<string, string> {
  const headers: Record<string, string> = {}
  // Only names that are not in lower case, the usual form, can be equal to another one.
  let names: Map<string, string> | undefined
  for (const name in given) {
    const value = given[name]
    if (value === null || value === undefined) continue
    if (names === undefined && name !== name.toLowerCase()) names = lowerCaseNames(headers)
    if (names !== undefined) {
      const earlier = names.get(name.toLowerCase())
      if (earlier !== undefined) delete headers[earlier]
      names.set(name.toLowerCase(), name)
    }
    setMember(headers, name, asText(value))
  }
  return headers
}

function lowerCaseNames(headers: Record<string, string>): Map<string, string> {
  return new Map(Object.keys(headers).map((name) => [name.toLowerCase(), name]))
}

function hasHeader(headers: Record<string, string>, lowerCaseName: string): boolean {
  for (const name in headers) {
    if (name.length === lowerCaseName.length && name.toLowerCase() === lowerCaseName) return true
  }
  return false
}

/** The endpoint with the params behind its own query and before its fragment. */
function withParams(endpoint: string, params: JsonObject): string {
  const query = encodePairs(params)
  if (query === '') return endpoint
  const hashAt = endpoint.indexOf('#')
  const address = hashAt === -1 ? endpoint : endpoint.slice(0, hashAt)
  const fragment = hashAt === -1 ? '' : endpoint.slice(hashAt)
  const separator = !address.includes('?') ? '?' : address.endsWith('?') || address.endsWith('&') ? '' : '&'
  return address + separator + query + fragment
}

/** Percent-encoded pairs: null and empty containers are left out, lists repeat their name, objects go as JSON. */
function encodePairs(pairs: JsonObject): string {
  const encoded: string[] = []
  for (const name in pairs) {
    const value = pairs[name]!
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each === null || (isJsonObject(each) && !isFilled(each)) || (Array.isArray(each) && each.length === 0))
        continue
      encoded.push(`${encodeText(name)}=${encodeText(asText(each))}`)
    }
  }
  return encoded.join('&')
}

/** encodeURIComponent, for texts with lone surrogates too. */
function encodeText(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

function asText(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
}
