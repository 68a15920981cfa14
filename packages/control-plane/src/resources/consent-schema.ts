import { closed, named, oneOf, Type } from '@millrace/openapi'
import type { ConsentRequirement, JsonObject, JsonValue } from '@millrace/protocol'
import { invalidConfig } from '../refusals.ts'
import { ConfigReader } from './written-fields.ts'

const MAX_CATEGORIES = 20
const MAX_CATEGORY_CHARS = 100

const members = {
  categories: Type.Array(Type.String({ maxLength: MAX_CATEGORY_CHARS }), {
    minItems: 1,
    maxItems: MAX_CATEGORIES,
    description: 'Consent categories, as the events of clients name them.',
  }),
  require: oneOf(['all', 'any'], { default: 'all', description: 'How many of them must be granted.' }),
}

/** @see contracts/delivery.md §5 [D537] */
export const CONSENT = named('Consent', closed(members))
export const CONSENT_WRITTEN = closed({ ...members, require: Type.Optional(members.require) })

/** @returns undefined for null. @throws ApiError 422 */
export function readConsent(written: JsonValue): ConsentRequirement | undefined {
  if (written === null) return undefined
  const consent = new ConfigReader(CONSENT, written, '/consent')
  return { categories: readCategories(written as JsonObject), require: consent.read('require') }
}

function readCategories({ categories }: JsonObject): string[] {
  const path = '/consent/categories'
  if (!Array.isArray(categories)) throw invalidConfig(path, 'must be a list')
  if (categories.length === 0) throw invalidConfig(path, 'must not be empty')
  if (categories.length > MAX_CATEGORIES) throw invalidConfig(path, `must have at most ${MAX_CATEGORIES} entries`)
  return categories.map((category, i) => {
    const fault = faultOf(category, categories.indexOf(category) < i)
    if (fault !== undefined) throw invalidConfig(`${path}/${i}`, fault)
    return category as string
  })
}

function faultOf(category: JsonValue, isRepeated: boolean): string | undefined {
  if (typeof category !== 'string' || category.trim() === '') return 'must be a text'
  if (category.length > MAX_CATEGORY_CHARS) return `must have at most ${MAX_CATEGORY_CHARS} characters`
  return isRepeated ? 'is listed twice' : undefined
}

/** As it is shown: a member of its own where a destination asks for consent. */
export function consentJson(consent: ConsentRequirement | undefined): JsonObject {
  return consent === undefined ? {} : { consent: { categories: [...consent.categories], require: consent.require } }
}
