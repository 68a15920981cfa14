import type { JsonObject, JsonValue } from '@millrace/protocol'
import type { RequestObject } from '../requests/request-object.ts'
import type { Masking } from './masking.ts'

/** A request object to be shown, with exactly its members. */
export function maskedRequestObject(
  { version, type, method, endpoint, headers, params, body, files }: RequestObject,
  masking: Masking,
): JsonObject {
  const masked = (part: JsonObject): JsonValue => masking.value(part)
  return {
    version,
    type,
    method,
    endpoint: masking.address(endpoint),
    headers: masked(headers),
    params: masked(params),
    body: {
      JSON: masked(body.JSON),
      JSON_ARRAY: masked(body.JSON_ARRAY),
      XML: masked(body.XML),
      FORM: masked(body.FORM),
    },
    files: masked(files),
  }
}
