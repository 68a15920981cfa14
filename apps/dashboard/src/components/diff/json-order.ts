import { isJsonObject, type JsonValue, setMember } from '@millrace/protocol/json'

/** `value` with its members in the order of `like`, new members last: a diff then shows changes, not order. */
export function orderedLike(value: JsonValue, like: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    return value.map((element, at) => orderedLike(element, Array.isArray(like) ? (like[at] ?? null) : null))
  }
  if (!isJsonObject(value)) return value
  const known = isJsonObject(like) ? like : {}
  const names = [
    ...Object.keys(known).filter((name) => Object.hasOwn(value, name)),
    ...Object.keys(value).filter((name) => !Object.hasOwn(known, name)),
  ]
  const ordered = {}
  for (const name of names) setMember(ordered, name, orderedLike(value[name]!, known[name] ?? null))
  return ordered
}
