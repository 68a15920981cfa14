import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol'
import type { RequestBatches } from '../../definition.ts'
import type { RequestObject } from '../../requests/request-object.ts'

/** Of one request, all kinds together: contracts by monthly active users allow 50 updates, the others 75 of each kind. */
const MAX_OBJECTS = 50

/** The lists that a request may have, under the names by which answers refer to them. */
const LISTS = ['attributes', 'events', 'purchases', 'aliases_to_identify'] as const

/**
 * Objects of several events in one request. Braze takes the objects that pass, and names the others by list and index.
 *
 * @see docs/destinations/braze.md "Batches"
 */
export const batches: RequestBatches = {
  takesManyOfOneUser: false,
  limits: () => ({ maxEvents: MAX_OBJECTS, maxBytes: 3_500_000 }),
  // The number of objects is in the key, so that the maximum of the first request holds for all of its batch.
  key: (request) => JSON.stringify([request.endpoint, request.headers, objectsIn(request)]),
  maxEvents: (request) => Math.max(1, Math.floor(MAX_OBJECTS / objectsIn(request))),
  join(requests) {
    const [first] = requests
    if (requests.length === 1) return first!
    const json: JsonObject = { ...first!.body.JSON }
    for (const list of LISTS) {
      const objects = requests.flatMap((request) => listOf(request, list))
      if (objects.length > 0) json[list] = objects
    }
    return { ...first!, body: { ...first!.body, JSON: json } }
  },
  outcomes({ status, body }, requests) {
    const refused = refusals(body)
    if (status < 200 || status > 299 || refused.length === 0) return undefined
    const owners = new Set(refused.map((error) => ownerOf(error, requests)))
    // Which object is meant is not known: the batch is halved until it is alone.
    if (owners.has(-1)) return undefined
    return requests.map((_, at) => (owners.has(at) ? 'abort' : 'delivered'))
  },
}

/** Errors that an answer names. */
export function refusals(body: unknown): JsonValue[] {
  const errors = isJsonObject(body) ? body['errors'] : undefined
  return Array.isArray(errors) ? errors : []
}

/** Which request the refused object came from, or -1. Braze counts each list over the whole batch. */
function ownerOf(error: JsonValue, requests: readonly RequestObject[]): number {
  const { input_array: list, index } = isJsonObject(error) ? error : {}
  if (typeof list !== 'string' || typeof index !== 'number' || !Number.isInteger(index) || index < 0) return -1
  let end = 0
  return requests.findIndex((request) => {
    end += listOf(request, list).length
    return index < end
  })
}

function objectsIn(request: RequestObject): number {
  return LISTS.reduce((sum, list) => sum + listOf(request, list).length, 0)
}

function listOf({ body }: RequestObject, name: string): JsonValue[] {
  const list = body.JSON[name]
  return Array.isArray(list) ? list : []
}
