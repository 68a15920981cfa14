import type { JsonObject } from '@millrace/protocol'

/**
 * One HTTP request as a destination's transformation makes it, with exactly these members.
 *
 * @see contracts/destinations.md §4
 */
export interface RequestObject {
  version: '1'
  type: 'REST'
  method: string
  endpoint: string
  headers: JsonObject
  params: JsonObject
  /** At most one of the four is not empty. */
  body: { JSON: JsonObject; JSON_ARRAY: JsonObject; XML: JsonObject; FORM: JsonObject }
  files: JsonObject
}

/** A request with the given parts; what is left out is empty. */
export function requestObject(parts: {
  method: string
  endpoint: string
  headers?: JsonObject
  params?: JsonObject
  body?: Partial<RequestObject['body']>
}): RequestObject {
  return {
    version: '1',
    type: 'REST',
    method: parts.method,
    endpoint: parts.endpoint,
    headers: parts.headers ?? {},
    params: parts.params ?? {},
    body: {
      JSON: parts.body?.JSON ?? {},
      JSON_ARRAY: parts.body?.JSON_ARRAY ?? {},
      XML: parts.body?.XML ?? {},
      FORM: parts.body?.FORM ?? {},
    },
    files: {},
  }
}
