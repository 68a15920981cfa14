import { isJsonObject, type JsonObject } from '@millrace/protocol'
import type { RequestBatches } from '../../definition.ts'
import { refusedRequests } from '../../requests/refused-requests.ts'
import type { RequestObject } from '../../requests/request-object.ts'

export const ENTITY = '/api/v2/entity'
export const BATCH = '/api/v2/batch'

/**
 * Operations on people and objects in one request. Customer.io takes those that pass, and names the others by index.
 *
 * @see docs/destinations/customerio.md "Batches"
 */
export const batches: RequestBatches = {
  takesManyOfOneUser: false,
  // The documented limit is 500 kB; it names no number of operations.
  limits: () => ({ maxEvents: 1_000, maxBytes: 480_000 }),
  key: ({ endpoint, headers }) =>
    endpoint.endsWith(ENTITY) || endpoint.endsWith(BATCH)
      ? JSON.stringify([new URL(endpoint).host, headers])
      : undefined,
  join(requests) {
    const [first] = requests
    if (requests.length === 1) return first!
    const endpoint = `${new URL(first!.endpoint).origin}${BATCH}`
    return { ...first!, endpoint, body: { ...first!.body, JSON: { batch: requests.flatMap(operationsOf) } } }
  },
  outcomes({ status, body }, requests) {
    const errors = isJsonObject(body) ? body['errors'] : undefined
    if (status !== 207 || !Array.isArray(errors)) return undefined
    const indexes = errors.map((error) => (isJsonObject(error) ? error['batch_index'] : undefined))
    const counts = requests.map((request) => operationsOf(request).length)
    // Without a known operation the batch is halved until the refused one is alone.
    return refusedRequests(counts, indexes)?.map((isRefused) => (isRefused ? 'abort' : 'delivered'))
  },
}

function operationsOf({ endpoint, body }: RequestObject): JsonObject[] {
  return endpoint.endsWith(BATCH) ? (body.JSON['batch'] as JsonObject[]) : [body.JSON]
}
