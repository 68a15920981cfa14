import { isMembers, isPlainObject, type Json, type JsonObject, plainObject } from './plain-json.ts'

/** Told once for each thing that could not be taken as given. */
export type Corrected = (what: string) => void

export type ExternalIds = Readonly<Record<string, string | number>>

/** The last argument of a call, read. Absent members were not given. @see contracts/cordova-sdk.md §5 */
export interface CallOptions {
  readonly integrations?: JsonObject | undefined
  readonly externalIds?: ExternalIds | undefined
}

/** A non-blank text, blanks kept; a finite number counts as its text. */
export function requiredText(value: unknown, corrected: Corrected): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) {
    corrected(`the number ${value} became a text`)
    return String(value)
  }
  return typeof value === 'string' && value.trim() ? value : undefined
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
  return isGiven('data', value, isMembers, corrected) ? plainObject(value, corrected) : {}
}

export function readOptions(value: unknown, corrected: Corrected): CallOptions {
  if (!isGiven('options', value, isPlainObject, corrected)) return {}
  const { integrations, externalIds } = plainObject(value, corrected)
  return {
    integrations: kept('integrations', integrations, isIntegration, corrected),
    externalIds: kept('externalIds', externalIds, isExternalId, corrected) as ExternalIds | undefined,
  }
}

/** `integrations` as an event carries them. `initial` are those of initialize. */
export function integrationsOf({ integrations }: CallOptions, initial: JsonObject = {}): JsonObject {
  const { All = true } = initial
  return Object.assign({ All }, integrations || initial)
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
  corrected(`${name}: no object, ignored`)
  return false
}

function isIntegration(value: unknown): boolean {
  return typeof value === 'boolean' || isPlainObject(value)
}

function isExternalId(value: unknown): boolean {
  return typeof value === 'string' || Number.isInteger(value)
}

function kept(
  name: string,
  given: unknown,
  isKept: (value: unknown) => boolean,
  corrected: Corrected,
): JsonObject | undefined {
  if (!isGiven(name, given, isPlainObject, corrected)) return undefined
  const result: Record<string, Json> = Object.create(null)
  for (const [key, value] of Object.entries(given)) {
    if (isKept(value)) result[key] = value as Json
    else corrected(`${name}.${key} cannot be used; it was removed`)
  }
  return result
}
