import type { BatchOutcome } from '@millrace/protocol'
import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol'
import type { RequestBatches } from '../../definition.ts'

/**
 * Lists of elements. The answer has one status for each of them, in their order.
 *
 * @see docs/destinations/linkedin-capi.md "Batches"
 */
export const batches: RequestBatches = {
  takesManyOfOneUser: false,
  // LinkedIn takes 5,000 events; it documents no bound in bytes.
  limits: () => ({ maxEvents: 1_000, maxBytes: 1_000_000 }),
  key: ({ endpoint, headers }) => JSON.stringify([endpoint, headers]),
  join(requests) {
    const [first] = requests
    if (requests.length === 1) return first!
    const elements = requests.flatMap(({ body }) => body.JSON['elements'] as JsonValue[])
    return { ...first!, body: { ...first!.body, JSON: { elements } } }
  },
  outcomes({ status, body }, requests) {
    if (status < 200 || status > 299 || !isJsonObject(body)) return undefined
    const statuses = elementStatuses(body)
    if (statuses.length === 0) return undefined
    // Which event each status is about is not known.
    return statuses.length === requests.length ? statuses.map(elementOutcome) : requests.map(() => 'retry')
  },
}

/** Of the elements of an answer; an element that says nothing was taken. */
export function elementStatuses({ elements }: JsonObject): number[] {
  if (!Array.isArray(elements)) return []
  return elements.map((element) => Number((isJsonObject(element) ? element['status'] : undefined) ?? 201))
}

/** Statuses that say nothing against the event. */
const PASSING = new Set([401, 403, 408, 429])

export function elementOutcome(status: number): Exclude<BatchOutcome, 'resend'> {
  if (PASSING.has(status) || status >= 500) return 'retry'
  return status >= 400 ? 'abort' : 'delivered'
}
