import { isJsonObject, type JsonValue } from '@millrace/protocol'

const DIRECTIVES: ReadonlySet<string> = new Set([
  '@path',
  '@template',
  '@literal',
  '@if',
  '@case',
  '@replace',
  '@arrayPath',
  '@flatten',
  '@json',
  '@merge',
  '@transform',
  '@excludeWhenNull',
  '@liquid',
])
const MAX_LEVELS = 20
const MAX_LIQUID_CHARACTERS = 1_000

export interface DirectiveFault {
  /** Names and indices from the value on. */
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** The first fault of a mapping's value: text that no directive has. @see contracts/destination-catalog.md §7.4 [C43] */
export function directiveFault(value: JsonValue): DirectiveFault | undefined {
  return faultIn(value, [])
}

/** Whether a value is more than literal text. */
export function isDirective(value: JsonValue): boolean {
  return isJsonObject(value) && Object.keys(value).some((name) => name.startsWith('@'))
}

function faultIn(value: JsonValue, path: readonly (string | number)[]): DirectiveFault | undefined {
  if (path.length > MAX_LEVELS) return { path, message: `is nested deeper than ${MAX_LEVELS} levels` }
  if (Array.isArray(value))
    return firstFault(
      value.map((each, i) => [i, each]),
      path,
    )
  if (!isJsonObject(value)) return undefined
  const names = Object.keys(value)
  const directives = names.filter((name) => name.startsWith('@'))
  const [directive] = directives
  if (directive !== undefined) {
    const others = names.filter((name) => name !== directive && name !== '_metadata')
    if (others.length > 0) return { path, message: `${directive} must be the only member of its object` }
    if (!DIRECTIVES.has(directive)) return { path, message: `${directive} is not a directive` }
    const given = value[directive]!
    if (directive === '@liquid' && typeof given === 'string' && given.length > MAX_LIQUID_CHARACTERS) {
      return { path, message: `@liquid is longer than ${MAX_LIQUID_CHARACTERS} characters` }
    }
    // Literal text is not looked into.
    if (directive === '@literal') return undefined
  }
  return firstFault(Object.entries(value), path)
}

function firstFault(
  members: readonly (readonly [string | number, JsonValue])[],
  path: readonly (string | number)[],
): DirectiveFault | undefined {
  for (const [name, value] of members) {
    const fault = faultIn(value, [...path, name])
    if (fault !== undefined) return fault
  }
  return undefined
}
