import type { JsonObject } from '@millrace/protocol'
import type { EntryField } from './entry.ts'

const TYPES: Readonly<Record<string, string>> = { boolean: 'boolean', number: 'number', integer: 'integer' }

/** JSON Schema draft-07 of a settings field. @see contracts/destination-catalog.md §7.2 [C36] */
export function fieldSchema(field: EntryField): JsonObject {
  const type = TYPES[field.type] ?? 'string'
  const one: JsonObject = {
    type,
    ...(type === 'string' && field.required === true ? { minLength: 1 } : {}),
    ...(field.choices === undefined ? {} : { enum: field.choices.map(({ value }) => value) }),
  }
  return {
    ...(field.multiple === true ? { type: 'array', items: one } : one),
    ...(field.default === undefined ? {} : { default: field.default }),
  }
}
