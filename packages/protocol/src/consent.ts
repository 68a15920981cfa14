import { isJsonObject, type JsonObject, type JsonValue, ownMember } from './json.ts'

/** The consent that a destination asks of an event. @see docs/filtering-events.md; contracts/delivery.md §5 [D537] */
export interface ConsentRequirement {
  readonly categories: readonly string[]
  /** How many of them must be granted. */
  readonly require: 'all' | 'any'
}

/** Whether the event's user has granted what a destination asks for. `missing`: the event says nothing of consent. */
export type ConsentAnswer = 'granted' | 'denied' | 'missing'

/**
 * Reads the consent of an event in the two forms that clients send: `context.consent.categoryPreferences` and
 * `context.consentManagement`. Where an event has both, both must grant. A category that is named nowhere is not granted.
 */
export function consentAnswer(event: JsonObject, requirement: ConsentRequirement): ConsentAnswer {
  const context = event['context']
  if (!isJsonObject(context)) return 'missing'
  const preferences = memberOf(ownMember(context, 'consent'), 'categoryPreferences')
  const management = ownMember(context, 'consentManagement')
  const hasPreferences = isJsonObject(preferences)
  const hasManagement = isJsonObject(management)
  if (!hasPreferences && !hasManagement) return 'missing'
  const isGranted =
    (!hasPreferences || meets(requirement.categories, requirement.require, isPreferred(preferences))) &&
    (!hasManagement || meets(requirement.categories, requiredBy(management, requirement), isAllowed(management)))
  return isGranted ? 'granted' : 'denied'
}

function isPreferred(preferences: JsonObject): (category: string) => boolean {
  return (category) => ownMember(preferences, category) === true
}

/** An id that stands in both lists is denied. Denials that cannot be read deny everything. */
function isAllowed(management: JsonObject): (category: string) => boolean {
  const { allowedConsentIds: allowed, deniedConsentIds: denied } = management
  if (!Array.isArray(allowed) || !Array.isArray(denied ?? [])) return () => false
  const isDenied = new Set(Array.isArray(denied) ? denied.map(String) : [])
  return (category) => allowed.includes(category) && !isDenied.has(category)
}

/** The strategy of a named provider comes with the event; that of a provider of one's own is the destination's setting. */
function requiredBy({ provider, resolutionStrategy }: JsonObject, requirement: ConsentRequirement): 'all' | 'any' {
  if (typeof provider !== 'string' || provider === 'custom') return requirement.require
  if (resolutionStrategy === 'and') return 'all'
  return resolutionStrategy === 'or' ? 'any' : requirement.require
}

function meets(
  categories: readonly string[],
  require: ConsentRequirement['require'],
  isGranted: (category: string) => boolean,
): boolean {
  return require === 'all' ? categories.every(isGranted) : categories.some(isGranted)
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) ? ownMember(value, name) : undefined
}
