import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol'
import type { RequestBatches } from '../../definition.ts'
import type { RequestObject } from '../../requests/request-object.ts'

export const UPSERT = '/crm/v3/objects/contacts/batch/upsert'
export const EVENT = '/events/v3/send'

/**
 * Contacts, or occurrences of events, in one request. HubSpot takes occurrences whole or not at all; of contacts it may take
 * some, and then says by its trace id which one it refused.
 *
 * @see docs/destinations/hubspot.md "Batches"
 */
export const batches: RequestBatches = {
  takesManyOfOneUser: false,
  limits: () => ({ maxEvents: 100, maxBytes: 2_000_000 }),
  key: ({ endpoint, headers }) => JSON.stringify([endpoint, headers]),
  join(requests) {
    const [first] = requests
    if (requests.length === 1) return first!
    const inputs = requests.flatMap(inputsOf)
    const endpoint = first!.endpoint.endsWith(EVENT) ? `${first!.endpoint}/batch` : first!.endpoint
    return { ...first!, endpoint, body: { ...first!.body, JSON: { inputs } } }
  },
  outcomes({ status, body }, requests) {
    const errors = refusals(body)
    if (status < 200 || status > 299 || errors.length === 0) return undefined
    const refused = errors.flatMap(traceIdsOf)
    const ids = requests.map((request) => inputsOf(request)[0]!['objectWriteTraceId'])
    // Which contact is meant is not known: the batch is halved until it is alone. An update may come twice.
    if (errors.some((error) => !traceIdsOf(error).some((id) => ids.includes(id)))) return undefined
    return ids.map((id) => (id !== undefined && refused.includes(id) ? 'abort' : 'delivered'))
  },
}

/** Errors that an answer names. */
export function refusals(body: unknown): JsonValue[] {
  const errors = isJsonObject(body) ? body['errors'] : undefined
  return Array.isArray(errors) ? errors : []
}

function traceIdsOf(error: JsonValue): JsonValue[] {
  const context = isJsonObject(error) ? error['context'] : undefined
  const ids = isJsonObject(context) ? context['objectWriteTraceId'] : undefined
  return Array.isArray(ids) ? ids : []
}

function inputsOf({ body }: RequestObject): JsonObject[] {
  const { inputs } = body.JSON
  return Array.isArray(inputs) ? (inputs as JsonObject[]) : [body.JSON]
}
