import { type BatchOutcome, isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol'
import type { RequestBatches } from '../../definition.ts'

/** Records of a collection. */
const MAX_RECORDS = 200
const MAX_BYTES = 3_500_000
/** The record was in use by somebody else for a moment. */
const PASSING = new Set(['UNABLE_TO_LOCK_ROW'])

/**
 * Collections of records of one object. The answer has a result for each of them. A collection that names one record twice is
 * halved.
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
    const outcomes = status === 200 && !namesOneTwice(body) ? recordOutcomes(body) : undefined
    // Which record each result is about is not known.
    if (outcomes !== undefined && outcomes.length !== requests.length) return requests.map(() => 'retry')
    return outcomes
  },
}

/** Salesforce refuses both of two records with the same external id, such as an email of two users. */
export function namesOneTwice(body: unknown): boolean {
  return Array.isArray(body) && body.some((result) => errorsOf(result).some(isOfTwoRecords))
}

function isOfTwoRecords({ statusCode, message }: JsonObject): boolean {
  return statusCode === 'DUPLICATE_VALUE' && /^Duplicate external id specified/i.test(String(message))
}

function errorsOf(result: unknown): JsonObject[] {
  const errors = isJsonObject(result) ? result['errors'] : undefined
  return Array.isArray(errors) ? errors.filter(isJsonObject) : []
}

/** What an answer says about each record; undefined if it is no list of results. */
export function recordOutcomes(body: unknown): BatchOutcome[] | undefined {
  if (!Array.isArray(body) || body.length === 0 || !body.every(isJsonObject)) return undefined
  return body.map((result) => {
    if (result['success'] === true) return 'delivered'
    const codes = errorsOf(result).map(({ statusCode }) => statusCode)
    return codes.length > 0 && codes.every((code) => PASSING.has(String(code))) ? 'retry' : 'abort'
  })
}
