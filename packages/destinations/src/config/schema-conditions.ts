import type { JsonObject } from '@millrace/protocol'

/** For `allOf` of a schema: where a variable has this value, `also` must hold. */
export function whereIs(variable: string, value: string, also: JsonObject): JsonObject {
  const condition = { required: [variable], properties: { [variable]: { enum: [value] } } }
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  return { if: condition, then: also }
}
