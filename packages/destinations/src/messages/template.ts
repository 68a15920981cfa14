import { isJsonObject, type JsonObject, type JsonValue, ownMember, setMember } from '@millrace/protocol'

/*
 * Texts of a configuration with `{{dotted.path}}` in them. A placeholder names a member of the event and nothing else:
 * there is no operator, no call and no second pass over what was put in, so whatever an event holds stays data.
 *
 * @see contracts/destinations.md §7, docs/decisions/0028-http-templates.md
 */

const PLACEHOLDER = /\{\{([^{}]+)\}\}/g
const ONE_PLACEHOLDER = /^\{\{([^{}]+)\}\}$/

/** The pattern of a text that is one placeholder, for configuration schemas. */
export const ONE_PLACEHOLDER_PATTERN = '^\\{\\{[^{}]+\\}\\}$'

/**
 * A configured value with every text in it filled. A text that is one placeholder becomes the value itself, whatever its
 * kind; a member or element with a value that the event does not have is left out.
 *
 * @returns undefined if the whole value is left out.
 */
export function fill(template: JsonValue, event: JsonObject): JsonValue | undefined {
  if (typeof template === 'string') {
    const one = ONE_PLACEHOLDER.exec(template)
    return one === null ? fillText(template, event, asItIs) : valueAt(event, one[1]!)
  }
  if (Array.isArray(template)) {
    return template.map((element) => fill(element, event)).filter((element) => element !== undefined)
  }
  if (!isJsonObject(template)) return template
  const filled: JsonObject = {}
  for (const [name, member] of Object.entries(template)) {
    const value = fill(member, event)
    if (value !== undefined) setMember(filled, name, value)
  }
  return filled
}

/**
 * A text with its placeholders replaced by texts: numbers and booleans in their usual form, objects and lists as JSON.
 *
 * @param encode makes what is put in fit its surroundings.
 * @returns undefined if the event lacks one of the values, or has null for it.
 */
export function fillText(template: string, event: JsonObject, encode: (text: string) => string): string | undefined {
  const { text, missing } = replacePlaceholders(template, event, encode)
  return missing.length === 0 ? text : undefined
}

/** The text with what there is, and the paths of what the event lacks, for which nothing stands. */
export function replacePlaceholders(
  template: string,
  event: JsonObject,
  encode: (text: string, path: string) => string,
): { text: string; missing: readonly string[] } {
  const missing: string[] = []
  const text = template.replace(PLACEHOLDER, (_, path: string) => {
    const value = valueAt(event, path)
    if (value !== undefined && value !== null) return encode(asText(value), path.trim())
    missing.push(path.trim())
    return ''
  })
  return { text, missing }
}

/** Own members only, so that no path leads out of the event; elements of lists by their number. */
function valueAt(event: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = event
  for (const name of path.trim().split('.')) {
    if (isJsonObject(value)) value = ownMember(value, name)
    else if (Array.isArray(value) && /^\d{1,9}$/.test(name)) value = value[Number(name)]
    else return undefined
  }
  return value
}

function asText(value: JsonValue): string {
  return typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function asItIs(text: string): string {
  return text
}
