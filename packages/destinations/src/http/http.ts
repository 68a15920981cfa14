import { isJsonObject, type JsonObject, type JsonValue, type StoredEvent, setMember } from '@millrace/protocol'
import type { DestinationModule, TransformContext } from '../definition.ts'
import { withTraits } from '../event-facts.ts'
import { type RequestObject, requestObject } from '../request-object.ts'
import { credentialsOf, isSecretHeader } from '../secrets.ts'
import { fill, fillText, replacePlaceholders } from '../template.ts'
import { definition } from './definition.ts'

/**
 * Sends each event as one request that the configuration describes, with values of the event in its texts.
 *
 * @see contracts/destination-catalog.md §16 [C61], docs/decisions/0028-http-templates.md
 */
export const destination: DestinationModule = { definition, transform, accepts }

function transform(event: StoredEvent, context: TransformContext): RequestObject[] {
  const { config } = context
  const values = withTraits(event)
  const endpoint = endpointOf(config['url'], values)
  const method = methodOf(config['method'])
  const { body = {}, contentType } = bodyOf(config, method, event, values)
  const request = requestObject({ method, endpoint, params: params(values, context), body })
  if (contentType !== undefined) request.headers['content-type'] = contentType
  for (const { name, value } of filledPairs('headers', values, context)) {
    if (value !== null) setMember(request.headers, name.toLowerCase(), value)
  }
  const authorization = authorizationOf(context)
  if (authorization !== undefined) request.headers['authorization'] = authorization
  return [request]
}

function accepts(messageType: string, { messageTypes }: JsonObject): boolean {
  return !Array.isArray(messageTypes) || messageTypes.includes(messageType)
}

/** Scheme, user and host, which are the operator's alone; then what may hold placeholders. */
const ADDRESS = /^(https?:\/\/[^/?#\\{}\s]+)([/?#].*)?$/is
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i

function endpointOf(url: unknown, values: JsonObject): string {
  const [, origin, rest = ''] = (typeof url === 'string' && ADDRESS.exec(url)) || []
  if (origin === undefined) throw new Error('url must be an http or https address without placeholders in its host')
  const empty: string[] = []
  const { text, missing } = replacePlaceholders(rest, values, (value, path) => {
    if (value === '') empty.push(path)
    return encodeURIComponent(value.toWellFormed())
  })
  const [lacking] = [...missing, ...empty]
  // Without its value the address would be another one: that of a whole collection, say.
  if (lacking !== undefined) throw new Error(`url needs ${lacking}, which the event does not have`)
  const [path = ''] = text.split(/[?#]/, 1)
  if (text !== rest && path.split('/').some((segment) => DOT_SEGMENT.test(segment))) {
    throw new Error('url would lead to another folder')
  }
  return origin + text
}

function methodOf(given: unknown): string {
  if (given === undefined || given === null || given === '') return 'POST'
  const method = String(given).toUpperCase()
  if (typeof given !== 'string' || !/^[A-Z0-9!#$%&'*+.^_`|~-]+$/.test(method) || method === 'CONNECT') {
    throw new Error(`Unsupported method ${String(given)}`)
  }
  return method
}

function params(values: JsonObject, context: TransformContext): JsonObject {
  const params: JsonObject = {}
  const pairs = filledPairs('params', values, context)
  for (const [name, same] of Map.groupBy(pairs, (pair) => pair.name)) {
    // A name that comes several times is one that has several values.
    setMember(params, name, same.length === 1 ? same[0]!.value : same.flatMap(({ value }) => value))
  }
  return params
}

/** The entries of a list whose values the event has. Those that the rule for headers calls secret are registered as such. */
function filledPairs(
  variable: 'headers' | 'params',
  values: JsonObject,
  { config, secret }: TransformContext,
): { name: string; value: JsonValue }[] {
  const entries = config[variable] ?? []
  if (!Array.isArray(entries)) throw new Error(`${variable} must be a list of from and to`)
  return entries.flatMap((entry) => {
    if (!isJsonObject(entry)) throw new Error(`${variable} must be a list of from and to`)
    const name = typeof entry['from'] === 'string' ? entry['from'].trim() : ''
    const value = fill(entry['to'] ?? '', values)
    if (name === '' || value === undefined) return []
    const text = typeof value === 'object' ? '' : String(value)
    if (text !== '' && isSecretHeader(name, text, entry['secret'])) credentialsOf(text).forEach(secret)
    return [{ name, value }]
  })
}

function authorizationOf({ config, basicAuth, bearer }: TransformContext): string | undefined {
  const { authType, username, password, token } = config
  switch (authType) {
    case undefined:
    case null:
    case '':
    case 'none':
      return undefined
    case 'basic':
      if (typeof username !== 'string' || username === '') throw new Error('username is missing')
      return basicAuth(username, typeof password === 'string' ? password : '')
    case 'bearer':
      if (typeof token !== 'string' || token === '') throw new Error('token is missing')
      return bearer(token)
    default:
      throw new Error(`Unsupported authType ${String(authType)}`)
  }
}

type Body = { body?: Partial<RequestObject['body']>; contentType?: string }

const CARRIES_EVENT = new Set(['POST', 'PUT', 'PATCH'])

function bodyOf({ bodyFormat, body: given }: JsonObject, method: string, event: StoredEvent, values: JsonObject): Body {
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
      if (payload === undefined) throw new Error('body has a placeholder for which the event has no value')
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
  if (isJsonObject(value)) return { body: { JSON: value }, contentType }
  if (Array.isArray(value)) return { body: { JSON_ARRAY: { batch: JSON.stringify(value) } }, contentType }
  throw new Error('body must be an object or a list')
}

const XML_ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => XML_ENTITIES[character]!)
}
