import { isJsonObject, type JsonObject } from '@millrace/protocol/json'

/**
 * Kinds of failed requests, by the remedy. `connection` (no answer), `rate` (429) and `server` (5xx but 507) pass without
 * action; `session` needs a new sign-in, `role` another user; `missing` is 404, `changed` 412; the user can correct
 * every `refused`.
 */
export type FailureKind = 'connection' | 'rate' | 'server' | 'session' | 'role' | 'missing' | 'changed' | 'refused'

/**
 * One type for the four error forms of the server: `{"error"}`, `{"message"}`, `{"msg"}` and plain text.
 *
 * @see contracts/dashboard.md §2
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly kind: FailureKind
  /** 0 without an answer. */
  readonly status: number
  /** The code of the /v2 routes, such as `conflict`; null for other routes. */
  readonly code: string | null
  readonly details: JsonObject | null
  /** Id of the request, for the operator; empty without an answer. */
  readonly requestId: string
  /** Seconds, from Retry-After; null if it is absent or a date. */
  readonly retryAfterS: number | null

  constructor(failure: Failure) {
    super(failure.text)
    this.kind = kindOf(failure)
    this.status = failure.status
    this.code = failure.code
    this.details = failure.details
    this.requestId = failure.requestId
    this.retryAfterS = failure.retryAfterS
  }
}

interface Failure {
  readonly text: string
  readonly status: number
  readonly code: string | null
  readonly details: JsonObject | null
  readonly requestId: string
  readonly retryAfterS: number | null
}

export function connectionFailure(): ApiError {
  return new ApiError({
    text: 'No answer from the server',
    status: 0,
    code: null,
    details: null,
    requestId: '',
    retryAfterS: null,
  })
}

/** @param body the text of an answer that is not 2xx. */
export function failureOf(status: number, headers: Headers, body: string): ApiError {
  const said = parsedObject(body)
  const { error, message, msg, code, details } = said ?? {}
  const text = [error, message, msg].find((each) => typeof each === 'string') ?? (said === undefined ? body.trim() : '')
  const retryAfter = Number(headers.get('Retry-After') ?? Number.NaN)
  return new ApiError({
    text: text === '' ? `Status ${status}` : (text as string).slice(0, 2000),
    status,
    code: typeof code === 'string' ? code : null,
    details: isJsonObject(details) ? details : null,
    requestId: headers.get('X-Request-Id') ?? '',
    retryAfterS: Number.isFinite(retryAfter) ? retryAfter : null,
  })
}

// The schema routes answer 400 for bad credentials. @see contracts/schema-catalog.md §2
const CREDENTIAL_TEXTS = ['Basic auth credentials missing', 'Invalid admin credentials']

function kindOf({ status, text }: Failure): FailureKind {
  if (status === 0) return 'connection'
  if (status === 401 || (status === 400 && CREDENTIAL_TEXTS.includes(text))) return 'session'
  if (status === 403) return 'role'
  if (status === 404) return 'missing'
  if (status === 412) return 'changed'
  if (status === 429) return 'rate'
  // 507 needs action before a retry.
  return status >= 500 && status !== 507 ? 'server' : 'refused'
}

function parsedObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
