import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol'
import type { RequestBatches } from '../../definition.ts'
import { refusedRequests } from '../../requests/refused-requests.ts'
import type { RequestObject } from '../../requests/request-object.ts'

/** Maximum of Amplitude events in a request: an order and its products are several of them. */
const MAX_EVENTS = 1_000
const UPLOAD = '/2/httpapi'
/** Amplitude recommends the batch endpoint for uploads of more events. */
const MAX_UPLOADED = 10

/**
 * Joins the uploads of several events into one. Amplitude stores nothing of a refused upload; the answer names the invalid events, or
 * the events of users and devices that send too many.
 *
 * @see docs/destinations/amplitude.md "Batches"
 */
export const batches: RequestBatches = {
  takesManyOfOneUser: false,
  limits: () => ({ maxEvents: MAX_EVENTS, maxBytes: 3_500_000 }),
  // The number of events is in the key, so that the maximum of the first request holds for all of its batch.
  key: (request) => {
    const { endpoint } = request
    return endpoint.endsWith(UPLOAD) ? `${endpoint} ${eventsOf(request).length}` : undefined
  },
  maxEvents: (request) => Math.max(1, Math.floor(MAX_EVENTS / eventsOf(request).length)),
  join(requests) {
    const [first] = requests
    const events = requests.flatMap(eventsOf)
    if (requests.length === 1) return first!
    const endpoint = events.length > MAX_UPLOADED ? first!.endpoint.replace(UPLOAD, '/batch') : first!.endpoint
    return { ...first!, endpoint, body: { ...first!.body, JSON: { ...first!.body.JSON, events } } }
  },
  outcomes({ status, body }, requests) {
    if (!isJsonObject(body)) return undefined
    const counts = requests.map((request) => eventsOf(request).length)
    if (status === 429) {
      const throttled = refusedRequests(counts, indexesIn(body['throttled_events']))
      return throttled?.map((isThrottled) => (isThrottled ? 'retry' : 'resend'))
    }
    if (status !== 400) return undefined
    const indexes = [
      ...indexesIn(body['events_with_invalid_fields']),
      ...indexesIn(body['events_with_missing_fields']),
      ...indexesIn(body['events_with_invalid_id_lengths']),
      ...indexesIn(body['silenced_events']),
    ]
    return refusedRequests(counts, indexes)?.map((isRefused) => (isRefused ? 'abort' : 'resend'))
  },
}

function eventsOf({ body }: RequestObject): JsonObject[] {
  return body.JSON['events'] as JsonObject[]
}

/** Indexes of events: a list, or lists by the name of the invalid field. */
function indexesIn(byField: JsonValue | undefined): JsonValue[] {
  if (Array.isArray(byField)) return byField
  if (!isJsonObject(byField)) return []
  return Object.values(byField).flatMap((indexes) => (Array.isArray(indexes) ? indexes : []))
}
