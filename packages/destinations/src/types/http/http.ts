import { isJsonObject, type JsonObject, type JsonValue, type StoredEvent, setMember } from '@millrace/protocol'
import { clientCredentialsGrant, TOKEN_HEADER } from '../../config/oauth.ts'
import { credentialsOf, isSecretHeader } from '../../config/secrets.ts'
import { certificateFaults, clientCertificate } from '../../config/tls.ts'
import type { DestinationModule, TransformContext } from '../../definition.ts'
import { withTraits } from '../../event/event-facts.ts'
import { fill } from '../../messages/template.ts'
import { isConnectionHeader } from '../../requests/connection-headers.ts'
import { listBatches } from '../../requests/list-batches.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'
import { filledAddress } from './address.ts'
import { describedBody } from './body.ts'
import { definition } from './definition.ts'

/**
 * Sends each event as one request that the configuration describes, with values of the event in its texts.
 *
 * @see docs/destinations/http.md, decision 0028
 */
export const destination: DestinationModule = {
  definition,
  transform,
  accepts,
  tokenGrant: clientCredentialsGrant,
  certificate: clientCertificate,
  faults: certificateFaults,
  batches: listBatches,
}

function transform(event: StoredEvent, context: TransformContext): RequestObject[] {
  const { config } = context
  const values = withTraits(event)
  const endpoint = filledAddress(config['url'], values)
  const method = methodOf(config['method'])
  const { body = {}, contentType } = describedBody(config, method, event, values)
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
    const template = entry['to'] ?? ''
    const value = fill(template, values)
    if (variable === 'headers' && value !== template && isConnectionHeader(name)) {
      throw new Error(`header ${name} must not contain placeholders: an event could redirect the request`)
    }
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
    case 'oauth2':
      return TOKEN_HEADER
    default:
      throw new Error(`Unsupported authType ${String(authType)}`)
  }
}
