import { isMembers, isPlainObject, type JsonObject, plainObject } from './plain-json.ts'

/** Told once for each thing that could not be taken as given. */
export type Corrected = (what: string) => void

export type ExternalIds = Readonly<Record<string, string | number>>

/** The last argument of a call, read. Absent members were not given. @see contracts/cordova-sdk.md §5 */
export interface CallOptions {
  readonly integrations?: JsonObject
  readonly externalIds?: ExternalIds
}

/** A non-blank text, blanks kept; a finite number counts as its text. */
export function requiredText(value: unknown, corrected: Corrected): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) {
    corrected(`the number ${value} became a text`)
    return String(value)
  }
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/**
 * Second and third argument of identify, track, group, screen and initialize: which are the data and which the options.
 *
 * The second counts as options when there is no third, and it holds nothing but `integrations` and `externalIds`, each an object.
 */
export function dataAndOptions(second: unknown, third: unknown): { data: unknown; options: unknown } {
  return third === undefined && looksLikeOptions(second)
    ? { data: undefined, options: second }
    : { data: second, options: third }
}

/** Traits or properties; what is no object with members is ignored. */
export function readData(value: unknown, corrected: Corrected): JsonObject {
  if (value === undefined || value === null) return {}
  if (isMembers(value)) return plainObject(value, corrected)
  corrected('traits or properties are no object and were ignored')
  return {}
}

export function readOptions(value: unknown, corrected: Corrected): CallOptions {
  if (value === undefined || value === null) return {}
  if (!isPlainObject(value)) {
    corrected('the options are no object and were ignored')
    return {}
  }
  const { integrations, externalIds } = plainObject(value, corrected)
  return {
    ...(isGiven('integrations', integrations, corrected) && {
      integrations: readIntegrations(integrations, corrected),
    }),
    ...(isGiven('externalIds', externalIds, corrected) && { externalIds: readExternalIds(externalIds, corrected) }),
  }
}

/** `integrations` as an event carries them. `initial` are those of initialize. */
export function integrationsOf(options: CallOptions, initial: JsonObject | undefined): JsonObject {
  const base = initial ?? {}
  const all = base['All'] ?? true
  const own = options.integrations ?? base
  return 'All' in own ? own : { All: all, ...own }
}

function looksLikeOptions(value: unknown): boolean {
  if (!isPlainObject(value)) return false
  try {
    const members = Object.keys(value)
    return (
      members.length > 0 &&
      members.every((member) => (member === 'integrations' || member === 'externalIds') && isPlainObject(value[member]))
    )
  } catch {
    return false
  }
}

function isGiven(name: string, value: unknown, corrected: Corrected): value is JsonObject {
  if (value === undefined || value === null) return false
  if (isPlainObject(value)) return true
  corrected(`the option ${name} is no object and was ignored`)
  return false
}

function readIntegrations(given: JsonObject, corrected: Corrected): JsonObject {
  return kept(given, (value) => typeof value === 'boolean' || isPlainObject(value), 'integrations', corrected)
}

function readExternalIds(given: JsonObject, corrected: Corrected): ExternalIds {
  const isId = (value: unknown) => typeof value === 'string' || Number.isInteger(value)
  return kept(given, isId, 'externalIds', corrected) as ExternalIds
}

function kept(given: JsonObject, isKept: (value: unknown) => boolean, name: string, corrected: Corrected): JsonObject {
  const result: Record<string, JsonObject[string]> = Object.create(null)
  for (const key of Object.keys(given)) {
    if (isKept(given[key])) result[key] = given[key]!
    else corrected(`${name} has a value for ${key} that cannot be used; it was removed`)
  }
  return result
}
