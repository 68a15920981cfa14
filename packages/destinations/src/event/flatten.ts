import { isJsonObject, type JsonObject, type JsonValue, setMember } from '@millrace/protocol'

/**
 * The leaves of an object by path: `seats[0]`, `seat.row`. Leaves keep their kind; empty objects and arrays are leaves.
 *
 * @see contracts/destinations.md §5 "Flattening"
 */
export function flatten(value: JsonObject): JsonObject {
  const flat: JsonObject = {}
  for (const name of Object.keys(value)) flattenInto(flat, name, value[name]!)
  return flat
}

function flattenInto(flat: JsonObject, path: string, value: JsonValue): void {
  if (Array.isArray(value) && value.length > 0) {
    for (const [i, element] of value.entries()) flattenInto(flat, `${path}[${i}]`, element)
  } else if (isJsonObject(value) && Object.keys(value).length > 0) {
    for (const name of Object.keys(value)) flattenInto(flat, `${path}.${name}`, value[name]!)
  } else {
    setMember(flat, path, value)
  }
}
