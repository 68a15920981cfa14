import { ERROR_STATUSES, type ErrorCode } from './error-codes.ts'

/** JSON; its members depend on the refusal. */
type Details = Readonly<Record<string, unknown>>

/**
 * A request that is refused. The message is the text that the client reads, so it never holds a secret.
 *
 * @see contracts/control-plane.md §4 "errors", §8
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ErrorCode
  readonly status: number
  readonly details: Details | null
  /** Further headers of the answer, such as Allow. */
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorCode,
    message: string,
    more: { details?: Details; headers?: Record<string, string>; cause?: unknown } = {},
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

/** @param what its kind, such as `Destination`. */
export function notFound(what: string, id: string): ApiError {
  return new ApiError('not_found', `${what} with id ${id} not found`)
}

/** @throws ApiError 400 that names the members of a body which are not known. */
export function refuseUnknownMembers(written: object, known: readonly string[]): void {
  const unknown = Object.keys(written).filter((member) => !known.includes(member))
  if (unknown.length > 0) throw badRequest(`Unknown member: ${unknown.join(', ')}`)
}
