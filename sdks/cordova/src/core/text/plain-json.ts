export type Json = string | number | boolean | null | readonly Json[] | JsonObject

export interface JsonObject {
  readonly [member: string]: Json
}

const DEEPEST_LEVEL = 100

/**
 * A deep copy of what a host gave, such as JSON can hold; never throws and runs no later change of the host's.
 *
 * undefined, functions and symbols are left out (null inside arrays); Date becomes its ISO text; NaN and infinities become
 * null; BigInt a text; what throws when it is read, a cycle, and what lies deeper than 100 levels become null.
 *
 * @param corrected is told once for each value that could not stay as it was.
 * @see contracts/cordova-sdk.md §8.1
 */
export function plainObject(value: object, corrected: (what: string) => void): JsonObject {
  const copy = copyOf(value, [], corrected)
  return isMembers(copy) ? copy : {}
}

/**
 * A String, Number or Boolean object as its value. Half of a surrogate pair becomes U+FFFD: it has no UTF-8, so phones would
 * store another text, or none.
 */
export function unboxed(value: unknown): unknown {
  const inner = [String, Number, Boolean].some((kind) => value instanceof kind) ? (value as object).valueOf() : value
  return typeof inner === 'string' ? inner.replace(/\p{Cs}/gu, '\ufffd') : inner
}

/** An object with members, such as a literal or an instance of a class of the app; no array, Map, Date … */
export function isMembers(value: unknown): value is JsonObject {
  return Object.prototype.toString.call(value) === '[object Object]'
}

/** A literal, or what JSON.parse makes. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isMembers(value)) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function copyOf(value: unknown, above: readonly object[], corrected: (what: string) => void): Json | undefined {
  const type = typeof value
  if (value === null || type === 'string' || type === 'boolean') return value as Json
  if (type === 'object') return copyOfObject(value as object, above, corrected)
  if (Number.isFinite(value)) return value as number
  const copy = type === 'number' ? null : type === 'bigint' ? `${value}` : undefined
  corrected(`a ${type} became ${copy}`)
  return copy
}

function copyOfObject(value: object, above: readonly object[], corrected: (what: string) => void): Json | undefined {
  const nulled = (why: string) => {
    corrected(`${why} became null`)
    return null
  }
  if (above.includes(value)) return nulled('a cycle')
  if (above.length >= DEEPEST_LEVEL) return nulled('a level')
  const inside = [...above, value]
  const copyOfMember = (member: string) => {
    try {
      return copyOf((value as Record<string, unknown>)[member], inside, corrected)
    } catch {
      return nulled('a member')
    }
  }
  try {
    const { toJSON } = value as { toJSON?: unknown }
    if (typeof toJSON === 'function') {
      if (value instanceof Date) corrected('a Date became a text')
      return copyOf(toJSON.call(value), inside, corrected)
    }
    const inner = unboxed(value)
    if (inner !== value) return copyOf(inner, inside, corrected)
    // Of undefined in a list JSON makes null.
    if (Array.isArray(value)) return value.map((element) => copyOf(element, inside, corrected)) as Json
  } catch {
    return nulled('a member')
  }
  // Without a prototype a member `__proto__` is data like any other.
  const copy: Record<string, Json> = Object.create(null)
  for (const member of Object.keys(value)) {
    const inner = copyOfMember(member)
    if (inner !== undefined) copy[member] = inner
  }
  return copy
}
