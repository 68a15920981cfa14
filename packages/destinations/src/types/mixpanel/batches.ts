import { isJsonObject, type JsonObject } from '@millrace/protocol'
import type { RequestBatches } from '../../definition.ts'
import { refusedRequests } from '../../requests/refused-requests.ts'
import type { RequestObject } from '../../requests/request-object.ts'

/** By route: maximum records of a request. */
const MAX_RECORDS: Readonly<Record<string, number>> = { '/import': 2_000, '/engage': 200, '/groups': 200 }
/** The documented limit of a body is 2 MB. */
const MAX_BYTES = 2_000_000

/**
 * Lists of records for one route. A strict import stores the events that pass and names the others.
 *
 * @see docs/destinations/mixpanel.md "Batches"
 */
export const batches: RequestBatches = {
  takesManyOfOneUser: false,
  limits: () => ({ maxEvents: 2_000, maxBytes: MAX_BYTES }),
  maxEvents: (request) => Math.max(1, Math.floor((MAX_RECORDS[routeOf(request)] ?? 1) / recordCount(request))),
  // The number of records is in the key, so that the maximum of the first request holds for all of its batch.
  key(request) {
    const isList = MAX_RECORDS[routeOf(request)] !== undefined && request.body.JSON_ARRAY['batch'] !== undefined
    return isList
      ? JSON.stringify([request.endpoint, request.params, request.headers, recordCount(request)])
      : undefined
  },
  join(requests, bodies) {
    const [first] = requests
    if (requests.length === 1) return first!
    const batch = `[${bodies.map((list) => list.slice(1, -1)).join(',')}]`
    return { ...first!, body: { ...first!.body, JSON_ARRAY: { batch } } }
  },
  outcomes({ status, body }, requests) {
    const failed = status === 400 && isJsonObject(body) ? body['failed_records'] : undefined
    if (!Array.isArray(failed)) return undefined
    const indexes = failed.map((record) => (isJsonObject(record) ? record['index'] : undefined))
    const counts = requests.map((request) => recordsOf(request).length)
    return refusedRequests(counts, indexes)?.map((isRefused) => (isRefused ? 'abort' : 'delivered'))
  },
}

function routeOf({ endpoint }: RequestObject): string {
  return new URL(endpoint).pathname
}

/** An import holds one event; a profile may need several updates. */
function recordCount(request: RequestObject): number {
  return routeOf(request) === '/import' ? 1 : recordsOf(request).length
}

function recordsOf({ body }: RequestObject): JsonObject[] {
  return JSON.parse(body.JSON_ARRAY['batch'] as string)
}
