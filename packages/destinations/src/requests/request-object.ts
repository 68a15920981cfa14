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

export type BodyKind = keyof RequestObject['body']

const BODY_KINDS: readonly BodyKind[] = ['JSON', 'JSON_ARRAY', 'XML', 'FORM']

/**
 * Which of the bodies is not empty, if any.
 *
 * @throws Error for more than one.
 */
export function filledBody(body: RequestObject['body']): BodyKind | undefined {
  let filled: BodyKind | undefined
  for (const kind of BODY_KINDS) {
    if (!isFilled(body[kind])) continue
    if (filled !== undefined) throw new Error('Request has more than one non-empty body')
    filled = kind
  }
  return filled
}

export function isFilled(part: JsonObject): boolean {
  for (const _ in part) return true
  return false
}

/** The JSON text of a body; empty for one of another kind. */
export function jsonBody({ body }: RequestObject): string {
  if (isFilled(body.JSON)) return JSON.stringify(body.JSON)
  const { batch } = body.JSON_ARRAY
  return typeof batch === 'string' ? batch : ''
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

export function isRequestObject(value: unknown): value is RequestObject {
  const request = value as RequestObject | null
  return (
    typeof request === 'object' &&
    request !== null &&
    request.version === '1' &&
    request.type === 'REST' &&
    typeof request.method === 'string' &&
    typeof request.endpoint === 'string' &&
    isObject(request.headers) &&
    isObject(request.params) &&
    isObject(request.body) &&
    isObject(request.body.JSON) &&
    isObject(request.body.JSON_ARRAY) &&
    isObject(request.body.XML) &&
    isObject(request.body.FORM) &&
    isObject(request.files)
  )
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
