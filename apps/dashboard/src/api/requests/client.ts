import type { JsonValue } from '@millrace/protocol/json'
import { endSession, sessionHalf } from '../session/session-half.ts'
import { connectionFailure, failureOf } from './failure.ts'
import { LastAnswers } from './last-answers.ts'
import { noteServerDate } from './server-clock.ts'
import { noteAsked } from './silence.ts'

export { ApiError } from './failure.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type QueryValues = Readonly<Record<string, string | number | boolean | null | undefined>>

export interface ApiOptions {
  /** Undefined, null and empty values are omitted. */
  readonly query?: QueryValues
  readonly body?: JsonValue | object
  /** The ETag of the expected state; a different state fails as `changed`. */
  readonly etag?: string | null
  readonly signal?: AbortSignal | undefined
  /** For a polled GET: an answer equal to the last one is the same object. */
  readonly isRemembered?: boolean
}

export interface Answer<T> {
  /** Null if the answer has no body. */
  readonly body: T
  readonly etag: string | null
  /** From X-Millrace-Warning: a side effect of the request, such as removed secrets. */
  readonly warning: string | null
  /** The path whose new state the body is: that of a PUT or PATCH; otherwise null. */
  readonly stateOf: string | null
}

/**
 * Calls a route of this page's server, with the session.
 *
 * @throws ApiError for every answer but 2xx, and without an answer; the error of `fetch` for an aborted signal.
 * @see contracts/dashboard.md §2, §3 "Session"
 */
export const api = apiOver(ownServer())

export interface Ground {
  readonly fetch: (path: string, init: RequestInit) => Promise<Response>
  readonly half: () => string | null
  /** Called when the server no longer accepts the session half of a request. */
  readonly onEnd: (half: string) => void
}

export function apiOver(ground: Ground) {
  const last = new LastAnswers()
  const bodyOf = (text: string, path: string, { query, isRemembered = false }: ApiOptions) => {
    if (text === '') return null
    return isRemembered ? last.read(pathWith(path, query), text) : JSON.parse(text)
  }
  return async <T>(method: Method, path: string, options: ApiOptions = {}): Promise<Answer<T>> => {
    const response = await respond(ground, method, path, options)
    const text = await response.text().catch((error: unknown) => {
      throw options.signal?.aborted ? error : connectionFailure()
    })
    return {
      body: bodyOf(text, path, options) as T,
      etag: response.headers.get('ETag'),
      warning: response.headers.get('X-Millrace-Warning'),
      stateOf: method === 'PUT' || method === 'PATCH' ? path : null,
    }
  }
}

/** The answer of a stream, with its body unread; throws like `api`. */
export function apiStream(path: string, query: QueryValues, signal: AbortSignal): Promise<Response> {
  return respond(ownServer(), 'GET', path, { query, signal })
}

function ownServer(): Ground {
  return { fetch: (path, init) => window.fetch(path, init), half: sessionHalf, onEnd: endSession }
}

async function respond(
  { fetch, half, onEnd }: Ground,
  method: Method,
  path: string,
  { query, body, etag, signal }: ApiOptions,
): Promise<Response> {
  const usedHalf = half()
  const headers: Record<string, string> = {}
  if (usedHalf !== null) headers['X-Millrace-Session'] = usedHalf
  if (etag) headers['If-Match'] = etag
  const init: RequestInit = { method, headers, credentials: 'same-origin' }
  if (body !== undefined) {
    headers['Content-Type'] = 'application/json'
    init.body = JSON.stringify(body)
  }
  if (signal !== undefined) init.signal = signal
  const answered = noteAsked(method, path, signal)
  const response = await fetch(pathWith(path, query), init)
    .catch((error: unknown) => {
      throw signal?.aborted ? error : connectionFailure()
    })
    .finally(answered)
  noteServerDate(response.headers.get('Date'), Date.now())
  if (response.ok) return response
  const error = failureOf(response.status, response.headers, await response.text().catch(() => ''))
  if (error.kind === 'session' && usedHalf !== null) onEnd(usedHalf)
  throw error
}

/** `/v2/sources?q=cinema`; without a `?` if no value remains. */
export function pathWith(path: string, query: QueryValues = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '')
  if (given.length === 0) return path
  return `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}
