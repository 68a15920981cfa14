import { type BatchOutcome, isJsonObject, type JsonValue } from '@millrace/protocol'
import type { RequestBatches } from '../../definition.ts'

/** Records of a collection. */
const MAX_RECORDS = 200
const MAX_BYTES = 3_500_000
/** The record was in use by somebody else for a moment. */
const PASSING = new Set(['UNABLE_TO_LOCK_ROW'])

/**
 * Collections of records of one object. The answer has a result for each of them.
 *
 * @see docs/destinations/salesforce.md "Batches"
 */
export const batches: RequestBatches = {
  takesManyOfOneUser: false,
  limits: () => ({ maxEvents: MAX_RECORDS, maxBytes: MAX_BYTES }),
  key: ({ endpoint }) => endpoint,
  join(requests) {
    const [first] = requests
    if (requests.length === 1) return first!
    const records = requests.flatMap(({ body }) => body.JSON['records'] as JsonValue[])
    return { ...first!, body: { ...first!.body, JSON: { allOrNone: false, records } } }
  },
  outcomes({ status, body }, requests) {
    const outcomes = status === 200 ? recordOutcomes(body) : undefined
    return outcomes?.length === requests.length ? outcomes : undefined
  },
}

/** What an answer says about each record; undefined if it is no list of results. */
export function recordOutcomes(body: unknown): BatchOutcome[] | undefined {
  if (!Array.isArray(body) || body.length === 0 || !body.every(isJsonObject)) return undefined
  return body.map(({ success, errors }) => {
    if (success === true) return 'delivered'
    const codes = Array.isArray(errors)
      ? errors.map((error) => (isJsonObject(error) ? error['statusCode'] : undefined))
      : []
    return codes.length > 0 && codes.every((code) => PASSING.has(String(code))) ? 'retry' : 'abort'
  })
}
