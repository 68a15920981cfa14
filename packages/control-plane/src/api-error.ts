import { ERROR_STATUSES, type ErrorCode } from '@millrace/openapi'
import type { JsonObject } from '@millrace/protocol'

/**
 * A request that is refused. The message is the text that the client reads, so it never holds a secret.
 *
 * @see contracts/control-plane.md §4 "errors", §8
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ErrorCode
  readonly status: number
  readonly details: JsonObject | null
  /** Further headers of the answer, such as Allow. */
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorCode,
    message: string,
    more: { details?: JsonObject; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause })
    this.code = code
    this.status = ERROR_STATUSES[code]
    this.details = more.details ?? null
    this.headers = more.headers ?? {}
  }
}

export function badRequest(message: string): ApiError {
  return new ApiError('bad_request', message)
}

export function notFound(what: string, id: string): ApiError {
  return new ApiError('not_found', `${what} with id ${id} not found`)
}

/** Credentials that are missing or not good. */
export function unauthorized(): ApiError {
  return new ApiError('unauthorized', 'Invalid Authorization Header', { headers: { 'WWW-Authenticate': 'Bearer' } })
}

/** @param path JSON pointer into the config. */
export function invalidConfig(path: string, message: string): ApiError {
  return new ApiError('invalid_config', 'Invalid config', { details: { path, message } })
}

export function unavailable(cause?: unknown): ApiError {
  return new ApiError('unavailable', 'Service unavailable', { cause })
}
