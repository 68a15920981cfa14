import { isMembers, isPlainObject, type Json, type JsonObject, plainObject, unboxed } from '../text/plain-json.ts'

/** Told once for each thing that could not be taken as given. */
export type Corrected = (what: string) => void

export type ExternalIds = Readonly<Record<string, string | number>>

/** The last argument of a call, read. Absent members were not given. @see contracts/cordova-sdk.md §5 */
export interface CallOptions {
  readonly integrations?: JsonObject | undefined
  readonly externalIds?: ExternalIds | undefined
}

/** A non-blank text, blanks kept; a finite number counts as its text. */
export function requiredText(given: unknown, corrected: Corrected): string | undefined {
  const value = unboxed(given)
  if (Number.isFinite(value)) {
    corrected(`${value} became a text`)
    return `${value}`
  }
  return typeof value === 'string' && value.trim() ? value : undefined
}

/**
 * Second and third argument of identify, track, group, screen and initialize: which are the data and which the options.
 *
 * The second counts as options when there is no third, and it holds nothing but `integrations` and `externalIds`, each an object.
 */
export function dataAndOptions(second: unknown, third: unknown): { payload?: unknown; callOptions: unknown } {
  return third === undefined && looksLikeOptions(second)
    ? { callOptions: second }
    : { payload: second, callOptions: third }
}

/** Traits or properties; what is no object with members is ignored. */
export function readData(value: unknown, corrected: Corrected): JsonObject {
  return isGiven('data', value, isMembers, corrected) ? plainObject(value, corrected) : {}
}

export function readOptions(value: unknown, corrected: Corrected, refused: Corrected): CallOptions {
  if (!isGiven('options', value, isPlainObject, corrected)) return {}
  const { integrations, externalIds } = value
  return {
    integrations: read('integrations', allOf(integrations), corrected, (wanted, key) => {
      const sends = isWanted(wanted)
      if (sends === undefined) refused(`integrations.${key} counts as false`)
      return sends || false
    }),
    externalIds: read('externalIds', externalIds, corrected, (id, key) => {
      if (typeof id === 'string' || Number.isInteger(id)) return id
      corrected(`externalIds.${key} was removed`)
      return undefined
    }) as ExternalIds | undefined,
  }
}

/** `integrations` as an event carries them. `initial` are those of initialize. */
export function integrationsOf({ integrations }: CallOptions, initial: JsonObject = {}): JsonObject {
  const { All = true } = initial
  return { All, ...(integrations || initial) }
}

function looksLikeOptions(value: unknown): boolean {
  try {
    if (!isPlainObject(value)) return false
    const members = Object.keys(value)
    return members.length > 0 && members.every((member) => OPTIONS.includes(member) && isPlainObject(value[member]))
  } catch {
    return false
  }
}

const OPTIONS = ['integrations', 'externalIds']

function isGiven<Kind extends object>(
  name: string,
  value: unknown,
  isUsable: (value: unknown) => value is Kind,
  corrected: Corrected,
): value is Kind {
  if (value === undefined || value === null) return false
  if (isUsable(value)) return true
  corrected(`${name} was ignored`)
  return false
}

/** A value in place of the list is for all. */
function allOf(integrations: unknown): unknown {
  return typeof integrations === 'object' || integrations === undefined ? integrations : { All: integrations }
}

/** As an app would mean it: an object counts as true and holds settings. undefined: that is not clear. */
function isWanted(value: Json | undefined): Json | undefined {
  if (value === true || value === 'true' || value === 1) return true
  if (value === false || value === 'false' || value === 0 || value === '0' || value === null) return false
  return isMembers(value) ? value : undefined
}

/** @param readMember is given undefined of what JSON cannot hold; its own undefined leaves the member out. */
function read(
  name: string,
  given: unknown,
  corrected: Corrected,
  readMember: (value: Json | undefined, key: string) => Json | undefined,
): JsonObject | undefined {
  if (!isGiven(name, given, isPlainObject, corrected)) return undefined
  const members = plainObject(given, corrected)
  const result: Record<string, Json> = Object.create(null)
  for (const key of Object.keys(given)) {
    const value = readMember(members[key], key)
    if (value !== undefined) result[key] = value
  }
  return result
}
