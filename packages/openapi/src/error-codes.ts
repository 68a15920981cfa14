/**
 * The `code` of an error below /v2, by which programs tell errors apart, and the status that comes with it.
 *
 * @see contracts/control-plane.md §4 "codes"
 */
export const ERROR_STATUSES = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  precondition_failed: 412,
  too_large: 413,
  unsupported_encoding: 415,
  invalid_config: 422,
  rate_limited: 429,
  unavailable: 503,
  insufficient_storage: 507,
} as const

export type ErrorCode = keyof typeof ERROR_STATUSES
