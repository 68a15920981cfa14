import { isJsonObject, type JsonObject, type JsonValue, ownMember, setMember } from '@millrace/protocol'

/**
 * HubSpot takes all values as texts, several options with semicolons between them, and an empty text to clear a property.
 * Undefined for an object, which no property can hold.
 */
export function propertyText(value: JsonValue | undefined): string | undefined {
  if (value === null) return ''
  if (Array.isArray(value))
    return value
      .map(plainText)
      .filter((text) => text !== undefined)
      .join(';')
  return plainText(value)
}

function plainText(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : undefined
}

/** The members that a configured list renames. Anything but a list, as an override of the Test API may give, names none. */
export function renamed(members: JsonObject, pairs: JsonValue | undefined): JsonObject {
  const properties: JsonObject = {}
  for (const pair of Array.isArray(pairs) ? pairs.filter(isJsonObject) : []) {
    const { from, to } = pair
    const text = typeof from === 'string' ? propertyText(ownMember(members, from)) : undefined
    if (text !== undefined && typeof to === 'string') setMember(properties, to, text)
  }
  return properties
}

/** All members under names that HubSpot takes: lower case, with `_` between words. */
export function underOwnNames(members: JsonObject): JsonObject {
  const properties: JsonObject = {}
  for (const [name, value] of Object.entries(members)) {
    const text = propertyText(value)
    const internal = internalName(name)
    if (text !== undefined && internal !== '') setMember(properties, internal, text)
  }
  return properties
}

function internalName(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
}
