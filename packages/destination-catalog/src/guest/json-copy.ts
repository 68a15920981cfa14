import type { JsonValue } from '@millrace/protocol'

/** A copy of JSON data that destination code may change; several times as fast as `structuredClone`. */
export function jsonCopy<T extends JsonValue>(value: T): T
export function jsonCopy(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => jsonCopy(each))
  const copy: Record<string, JsonValue> = {}
  for (const name of Object.keys(value)) {
    // Assigned, it would set the prototype.
    if (name === '__proto__') Object.defineProperty(copy, name, { value: jsonCopy(value[name]!), ...OPEN })
    else copy[name] = jsonCopy(value[name]!)
  }
  return copy
}

const OPEN = { enumerable: true, configurable: true, writable: true }
