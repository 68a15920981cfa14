/** A value as JSON.parse returns it. Names such as `__proto__` are ordinary own members. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject
export type JsonObject = { [name: string]: JsonValue }

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Sets a member of any name: plain assignment to `__proto__` would change the prototype. */
export function setMember(target: JsonObject, name: string, value: JsonValue): void {
  if (name === '__proto__') {
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
  } else {
    target[name] = value
  }
}

/** Reads an own member, never one of the prototype. */
export function ownMember(target: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(target, name) ? target[name] : undefined
}

/** The JSON pointer of a member. @param path the pointer of its object. */
export function memberPath(path: string, member: string | number): string {
  return `${path}/${String(member).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** Whether an object or array is nested deeper than `levels`; the value itself is level 1. */
export function isNestedDeeper(value: object, levels: number): boolean {
  if (levels === 0) return true
  if (Array.isArray(value)) {
    for (const element of value) {
      if (typeof element === 'object' && element !== null && isNestedDeeper(element, levels - 1)) return true
    }
    return false
  }
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name]
    if (typeof member === 'object' && member !== null && isNestedDeeper(member, levels - 1)) return true
  }
  return false
}
