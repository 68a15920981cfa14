import { createHmac } from 'node:crypto'
import { isJsonObject, type JsonObject, type StoredEvent, setMember } from '@millrace/protocol'
import { clientCredentialsGrant, TOKEN_HEADER } from '../../config/oauth.ts'
import { trustedHosts } from '../../config/other-host.ts'
import { isSecretHeader } from '../../config/secrets.ts'
import { certificateFaults, clientCertificate } from '../../config/tls.ts'
import type { DestinationModule, EventMetadata, TransformContext } from '../../definition.ts'
import { flatten } from '../../event/flatten.ts'
import { isConnectionHeader } from '../../requests/connection-headers.ts'
import { listBatches } from '../../requests/list-batches.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'
import { definition } from './definition.ts'
import { pathChange, withoutSecretParts, withPath } from './integration-path.ts'

/**
 * Sends each event to one URL, as JSON in the body or as query parameters; with `batchSize` several events in one body.
 *
 * @see contracts/destinations.md §5
 */
export const destination: DestinationModule = {
  definition,
  transform,
  testConnection,
  sign,
  tokenGrant: clientCredentialsGrant,
  certificate: clientCertificate,
  faults: certificateFaults,
  mayHaveCredentials: (url, config) => isTrusted(url, addressOf(config), config),
  batches: listBatches,
}

const METHODS = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE']

function transform(event: StoredEvent, { config, metadata }: TransformContext): RequestObject[] {
  const webhookUrl = addressOf(config)
  const method = methodOf(config['webhookMethod'])
  const carriesBody = method !== 'GET' && method !== 'DELETE'
  const { endpoint, mayHaveSecrets } = placeOf(webhookUrl, event, metadata, config)
  const request = requestObject({
    method,
    endpoint,
    headers: headersOf(carriesBody, config['headers'], mayHaveSecrets, event['header']),
  })
  if (mayHaveSecrets && config['authType'] === 'oauth2') withTokenHeader(request.headers)
  if (carriesBody) request.body.JSON = eventBody(event)
  else request.params = eventParams(event)
  return [request]
}

/** HEAD: any answer proves that the server is reachable, and may reject the credentials. */
function testConnection({ config }: TransformContext): RequestObject {
  const headers = headersOf(false, config['headers'], true, undefined)
  if (config['authType'] === 'oauth2') withTokenHeader(headers)
  return requestObject({ method: 'HEAD', endpoint: addressOf(config), headers })
}

/** The token goes before an `authorization` of the configuration or the event. */
function withTokenHeader(headers: JsonObject): void {
  for (const name of Object.keys(headers)) if (name.toLowerCase() === 'authorization') delete headers[name]
  headers['authorization'] = TOKEN_HEADER
}

function addressOf({ webhookUrl }: JsonObject): string {
  if (typeof webhookUrl !== 'string' || webhookUrl === '') throw new Error('Invalid URL in destination config')
  return webhookUrl
}

/** Adds `millrace-signature`, which proves the origin and the time of a request. */
function sign(
  { url, body }: { readonly url: string; readonly body: string },
  config: JsonObject,
  nowSeconds: number,
): Record<string, string> {
  const secret = config['signingSecret']
  if (typeof secret !== 'string' || secret === '' || !isTrusted(url, addressOf(config), config)) return {}
  const digest = createHmac('sha256', secret).update(`${nowSeconds}.${body}`).digest('hex')
  return { 'millrace-signature': `t=${nowSeconds},v1=${digest}` }
}

function methodOf(given: unknown): string {
  if (given === undefined || given === null || given === '') return 'POST'
  const method = String(given).toUpperCase()
  if (typeof given !== 'string' || !METHODS.includes(method)) throw new Error(`Unsupported webhookMethod ${given}`)
  return method
}

/** Where the request goes, and whether configured secrets may go there. */
function placeOf(webhookUrl: string, event: StoredEvent, metadata: EventMetadata, config: JsonObject) {
  const change = event['integrations'] === undefined ? undefined : pathChange(event, metadata)
  if (change !== undefined) {
    const endpoint = withPath(webhookUrl, change)
    const mayHaveSecrets = isTrusted(endpoint, webhookUrl, config)
    return { endpoint: mayHaveSecrets ? endpoint : withPath(withoutSecretParts(webhookUrl), change), mayHaveSecrets }
  }
  const endpoint = endpointOf(webhookUrl, event)
  const mayHaveSecrets = isTrusted(endpoint, webhookUrl, config)
  // A user and password in a URL from the event are the event's own.
  const isOwn = mayHaveSecrets || !endpoint.startsWith(webhookUrl)
  return { endpoint: isOwn ? endpoint : withoutUser(endpoint), mayHaveSecrets }
}

function endpointOf(webhookUrl: string, event: StoredEvent): string {
  const { fullPath, appendPath } = event
  const address = typeof fullPath === 'string' && fullPath !== '' ? fullPath : webhookUrl
  return typeof appendPath === 'string' ? address + appendPath : address
}

/**
 * Whether configured secrets may be sent to a URL. Clients control event members, so a URL that an event changes gets
 * secrets only if it is below the configured one, or if `allowedHosts` lists its host. Other paths of the same host may
 * belong to someone else.
 */
function isTrusted(endpoint: string, webhookUrl: string, config: JsonObject): boolean {
  if (endpoint === webhookUrl) return true
  const address = URL.parse(endpoint)
  if (address === null) return false
  if (trustedHosts(definition, config).some((name) => name === address.host || name === address.hostname)) return true
  const configured = URL.parse(webhookUrl)
  if (configured === null || configured.origin !== address.origin) return false
  if (address.pathname === configured.pathname) return true
  const folder = configured.pathname.endsWith('/') ? configured.pathname : `${configured.pathname}/`
  return address.pathname.startsWith(folder) && !MAY_LEAD_UP.test(address.pathname.slice(folder.length))
}

/** Path parts that URL parsers keep but servers may read as `..`. */
const MAY_LEAD_UP = /\.\.|;|%(?:25|2e|2f|5c)/i

/** Removes the configured user and password, which would otherwise go to a host chosen by the event. */
function withoutUser(endpoint: string): string {
  const address = URL.parse(endpoint)
  if (address === null || (address.username === '' && address.password === '')) return endpoint
  address.username = ''
  address.password = ''
  return address.href
}

function headersOf(carriesBody: boolean, configured: unknown, mayHaveSecrets: boolean, ofEvent: unknown): JsonObject {
  const headers: JsonObject = carriesBody ? { 'content-type': 'application/json' } : {}
  if (configured === undefined && ofEvent === undefined) return headers
  return { ...headers, ...configuredHeaders(configured, mayHaveSecrets), ...eventHeaders(ofEvent) }
}

function configuredHeaders(given: unknown, mayHaveSecrets: boolean): JsonObject {
  if (given === undefined || given === null) return {}
  if (typeof given !== 'object') throw new Error('headers must be a list or an object')
  const entries = Array.isArray(given)
    ? given
    : Object.entries(given).map(([from, to]) => ({ from, to, secret: undefined }))
  const headers: JsonObject = {}
  for (const entry of entries) {
    if (!isJsonObject(entry)) throw new Error('headers must be a list or an object')
    const { from, to, secret } = entry
    const name = typeof from === 'string' ? from.trim().toLowerCase() : ''
    if (name === '') continue
    const value = typeof to === 'string' ? to : to === undefined || to === null ? '' : String(to)
    if (mayHaveSecrets || !isSecretHeader(name, value, secret)) setMember(headers, name, value)
  }
  return headers
}

function eventHeaders(given: unknown): JsonObject {
  if (!isJsonObject(given)) return {}
  return Object.fromEntries(
    Object.entries(given).filter(([name, value]) => typeof value === 'string' && !isConnectionHeader(name)),
  )
}

/** The event without control members and top-level nulls; copied only if something is removed. */
function eventBody(event: StoredEvent): JsonObject {
  const located = withIp(event)
  for (const name in located) {
    if (located[name] === null || STEERING.has(name)) {
      return Object.fromEntries(
        Object.entries(located).filter(([other, value]) => value !== null && !STEERING.has(other)),
      )
    }
  }
  return located
}

const STEERING = new Set(['header', 'fullPath', 'appendPath'])

function withIp(event: StoredEvent): JsonObject {
  // A Test API message, or an event from a user transformation, may lack `request_ip`.
  const { context, request_ip } = event as JsonObject
  if (!isJsonObject(context) || typeof request_ip !== 'string' || request_ip === '') return event
  const { ip } = context
  const hasIp = ip !== undefined && ip !== null && ip !== ''
  return hasIp ? event : { ...event, context: { ...context, ip: request_ip } }
}

function eventParams(event: StoredEvent): JsonObject {
  const { context } = event
  const traits = event['traits'] ?? (isJsonObject(context) ? context['traits'] : undefined)
  const shown = event.type === 'identify' ? traits : event['properties']
  return isJsonObject(shown) ? flatten(shown) : {}
}
