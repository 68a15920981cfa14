import { ERROR_STATUSES, type ErrorCode } from '@millrace/openapi'
import type { JsonObject } from '@millrace/protocol'

/** A request that is refused, in the form that the server turns into an answer. @see contracts/delivery.md §10 */
export class RequestRefused extends Error {
  override name = 'RequestRefused'
  readonly code: ErrorCode
  readonly status: number
  readonly details: JsonObject | null

  constructor(code: ErrorCode, message: string, details: JsonObject | null = null) {
    super(message)
    this.code = code
    this.status = ERROR_STATUSES[code]
    this.details = details
  }
}
