import { ERROR_STATUSES, type ErrorCode } from '@millrace/openapi'

/** A request that is refused, in the form that the server turns into an answer. @see contracts/delivery.md §10 */
export class Refused extends Error {
  override name = 'Refused'
  readonly code: ErrorCode
  readonly status: number

  constructor(code: ErrorCode, message: string) {
    super(message)
    this.code = code
    this.status = ERROR_STATUSES[code]
  }
}
