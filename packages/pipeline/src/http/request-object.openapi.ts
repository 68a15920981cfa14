import { closed, named, Type } from '@millrace/openapi'

const object = Type.Record(Type.String(), Type.Unknown())

/** A request of a destination as it is shown. */
export const REQUEST_OBJECT = named(
  'RequestObject',
  closed({
    version: Type.String(),
    type: Type.String(),
    method: Type.String(),
    endpoint: Type.String(),
    headers: object,
    params: object,
    body: closed({ JSON: object, JSON_ARRAY: object, XML: object, FORM: object }),
    files: object,
  }),
)
