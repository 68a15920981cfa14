import type { CapturedRequest } from '../messages.ts'
import type { ClientOptions, Core, CoreHeaders, CoreResponse, RequestClient } from './core.ts'
import type { DefinitionRun, GuestAnswer } from './guest-run.ts'

const DEFAULT_TIMEOUT_MS = 10_000
const MAX_TIMEOUT_MS = 30_000

/**
 * What destination code calls to send a request. The package's own client keeps every response for ever and mixes headers
 * into bodies, so this one takes its place.
 *
 * @see contracts/destination-catalog.md §6
 */
export function requestClient(core: Core, run: DefinitionRun, defaults: ClientOptions): RequestClient {
  return async (url, given = {}) => {
    let options = merged(core, defaults, given)
    for (const hook of options.beforeRequest ?? []) {
      const more = await hook({ ...options })
      if (isPlain(more)) options = merged(core, options, more as ClientOptions)
    }
    const request = captured(core, url, options)
    const answer = await run.exchange(request)
    let response = responseOf(core, request, options, answer)
    for (const hook of options.afterResponse ?? []) {
      const changed = await hook(request, options, response)
      if (changed instanceof core.Response) response = changed as CoreResponse
    }
    if (!response.ok && options.throwHttpErrors !== false) throw new core.HTTPError(response, request, options)
    return response
  }
}

/** One level deep: plain objects are merged, headers without letter case, everything else is replaced. */
function merged(core: Core, defaults: ClientOptions, given: ClientOptions): ClientOptions {
  const options: Record<string, unknown> = { ...defaults }
  for (const [name, value] of Object.entries(given)) {
    const earlier = options[name]
    options[name] = isPlain(value) && isPlain(earlier) && name !== 'headers' ? { ...earlier, ...value } : value
  }
  const headers = headersOf(core, defaults.headers)
  headersOf(core, given.headers).forEach((value, name) => {
    // The text `undefined` is what a missing value becomes in a header.
    if (value === 'undefined') headers.delete(name)
    else headers.set(name, value)
  })
  return { ...options, headers }
}

function headersOf(core: Core, given: unknown): CoreHeaders {
  return new core.Headers((given ?? {}) as object)
}

function captured(core: Core, url: string, options: ClientOptions): CapturedRequest {
  const headers = headersOf(core, options.headers)
  const secrets: string[] = []
  const address = new URL(url)
  address.hash = ''
  if (options.searchParams !== undefined && options.searchParams !== null) {
    address.search = new URLSearchParams(options.searchParams as Record<string, string>).toString()
  }
  const { body, isBase64, contentType } = bodyOf(options)
  if (options.json !== undefined) headers.set('content-type', 'application/json')
  else if (contentType !== undefined && !headers.has('content-type')) headers.set('content-type', contentType)
  if (options.username || options.password) {
    const credentials = Buffer.from(`${options.username ?? ''}:${options.password ?? ''}`).toString('base64')
    headers.set('authorization', `Basic ${credentials}`)
  }
  const sent: Record<string, string> = {}
  headers.forEach((value, name) => {
    sent[name] = value
  })
  const authorization = sent['authorization']
  if (authorization !== undefined) secrets.push(authorization, authorization.replace(/^\S+\s+/, ''))
  return {
    method: (options.method ?? 'GET').toUpperCase(),
    url: address.href,
    headers: sent,
    body,
    bodyIsBase64: isBase64,
    timeoutMs: timeoutOf(options.timeout),
    secrets,
  }
}

function timeoutOf(timeout: ClientOptions['timeout']): number {
  if (timeout === false) return MAX_TIMEOUT_MS
  return Math.min(MAX_TIMEOUT_MS, timeout === undefined || !(timeout > 0) ? DEFAULT_TIMEOUT_MS : timeout)
}

function bodyOf({ json, body }: ClientOptions): { body: string; isBase64: boolean; contentType?: string } {
  if (json !== undefined) return { body: JSON.stringify(json) ?? '', isBase64: false }
  if (body === undefined || body === null) return { body: '', isBase64: false }
  if (body instanceof URLSearchParams) {
    const contentType = 'application/x-www-form-urlencoded;charset=UTF-8'
    return { body: body.toString(), isBase64: false, contentType }
  }
  if (body instanceof Uint8Array) {
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    const text = bytes.toString()
    const isText = Buffer.from(text).equals(bytes)
    return { body: isText ? text : bytes.toString('base64'), isBase64: !isText }
  }
  return { body: String(body), isBase64: false, contentType: 'text/plain;charset=UTF-8' }
}

function responseOf(core: Core, request: CapturedRequest, options: ClientOptions, answer: GuestAnswer): CoreResponse {
  const { status, statusText, headers, body } = answer
  const response = new core.Response(body, { status, statusText, headers, url: request.url })
  Object.defineProperty(response.headers, 'toJSON', { value: () => ({ ...headers }) })
  return Object.assign(response, { content: body, data: dataOf(response, body), request, options })
}

function dataOf(response: CoreResponse, body: string): unknown {
  if (response.headers.get('content-type')?.includes('application/json') !== true) return body
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
