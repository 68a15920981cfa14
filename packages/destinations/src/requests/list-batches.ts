import { type JsonObject, type JsonValue, setMember } from '@millrace/protocol'
import type { RequestBatches } from '../definition.ts'
import { isFilled, type RequestObject, requestObject } from './request-object.ts'
import { MAX_BODY_BYTES } from './wire.ts'

/** Room for the brackets and separators of a list. */
const MAX_BYTES = MAX_BODY_BYTES - 4_096

/** Form fields of a type whose requests travel as a list; `batchSize` 1 is the request as it is. */
export const LIST_BATCH_PROPERTIES: JsonObject = {
  batchSize: { type: 'integer', minimum: 1, maximum: 1_000, default: 1 },
  batchFormat: { type: 'string', enum: ['JSON', 'NDJSON'], default: 'JSON' },
}

export const LIST_BATCH_FIELDS: JsonObject[] = [
  {
    key: 'batchSize',
    label: 'Events per request',
    help: 'More than 1: the body is a list of up to this many events, even if it holds only one.',
  },
  { key: 'batchFormat', label: 'Format of the list', help: 'JSON: an array. NDJSON: one JSON object per line.' },
]

/** Bodies of several requests to one address as a JSON array, or as NDJSON. One answer covers all of them. */
export const listBatches: RequestBatches = {
  takesManyOfOneUser: true,
  limits: ({ batchSize }) => (isMany(batchSize) ? { maxEvents: batchSize, maxBytes: MAX_BYTES } : undefined),
  key: (request) => (isFilled(request.body.JSON) ? addressKey(request) : undefined),
  join: ([first], bodies, { batchFormat }) =>
    batchFormat === 'NDJSON'
      ? listRequest(first!, `${bodies.join('\n')}\n`, 'application/x-ndjson')
      : listRequest(first!, `[${bodies.join(',')}]`, 'application/json'),
}

/** The latest address: nearly every event has that of the one before it. */
let latest: { readonly address: Address; readonly key: string } | undefined

type Address = Pick<RequestObject, 'method' | 'endpoint' | 'headers' | 'params'>

function addressKey({ method, endpoint, headers, params }: Address): string {
  const known = latest?.address
  const isLatest =
    known?.method === method &&
    known.endpoint === endpoint &&
    isSame(known.headers, headers) &&
    isSame(known.params, params)
  if (isLatest) return latest!.key
  const key = JSON.stringify([method, endpoint, headers, params])
  latest = { address: { method, endpoint, headers, params }, key }
  return key
}

/** Whether two objects have the same members; values other than texts count as different. */
function isSame(a: JsonObject, b: JsonObject): boolean {
  let more = 0
  for (const name in a) {
    if (typeof a[name] !== 'string' || a[name] !== b[name]) return false
    more++
  }
  for (const _ in b) more--
  return more === 0
}

function isMany(batchSize: JsonValue | undefined): batchSize is number {
  return typeof batchSize === 'number' && batchSize > 1
}

function listRequest({ method, endpoint, headers, params }: RequestObject, batch: string, type: string): RequestObject {
  const request = requestObject({ method, endpoint, params, headers: { ...headers }, body: { JSON_ARRAY: { batch } } })
  const own = request.headers['content-type']
  if (own === undefined || own === 'application/json') setMember(request.headers, 'content-type', type)
  return request
}
