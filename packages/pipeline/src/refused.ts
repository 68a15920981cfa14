import type { JsonObject } from '@millrace/protocol'

const STATUSES = { bad_request: 400, not_found: 404, conflict: 409, unavailable: 503 } as const

/** A request that is refused, in the form that the server turns into an answer. @see contracts/delivery.md §10 */
export class Refused extends Error {
  override name = 'Refused'
  readonly code: keyof typeof STATUSES
  readonly status: (typeof STATUSES)[keyof typeof STATUSES]
  readonly details: JsonObject | null

  constructor(code: Refused['code'], message: string, details: JsonObject | null = null) {
    super(message)
    this.code = code
    this.status = STATUSES[code]
    this.details = details
  }
}
