import { isJsonObject, type JsonObject, type JsonValue, type StoredEvent, setMember } from '@millrace/protocol'
import { contextObject, userTraits } from '../../event/event-facts.ts'
import { BIRTHDAY_TRAITS, CONTACT_TRAITS, NAME_TRAITS, personOf } from '../../event/person.ts'

/** Traits that are fields of the profile. An address stays an attribute, too: only its city and country have fields. */
const PROFILE_TRAITS = new Set([
  ...[...NAME_TRAITS, ...CONTACT_TRAITS, ...BIRTHDAY_TRAITS],
  ...['gender', 'city', 'country', 'avatar', 'language', 'locale', 'timezone', 'time_zone'],
])

/** Members that select the user of an update. A trait of such a name could update another user. */
const RESERVED = new Set(['external_id', 'user_alias', 'braze_id', '_update_existing_only', 'push_token_import'])

/**
 * The traits of an identify as fields of the profile, the others as custom attributes. A trait that is null removes its attribute.
 *
 * @see https://www.braze.com/docs/api/objects_filters/user_attributes_object
 */
export function userAttributes(event: StoredEvent): JsonObject {
  const traits = userTraits(event)
  const attributes: JsonObject = {}
  for (const [name, value] of Object.entries(traits)) {
    if (!RESERVED.has(name) && !PROFILE_TRAITS.has(name)) setMember(attributes, name, value)
  }
  return { ...attributes, ...profileFields(event, traits) }
}

function profileFields(event: StoredEvent, traits: JsonObject): JsonObject {
  const { email, phone, firstName, lastName, gender, birthday, city, country } = personOf(event)
  const { context } = event
  const inContext = isJsonObject(context) ? context : {}
  const fields: Record<string, JsonValue | undefined> = {
    email: email ?? removed(traits, 'email'),
    phone: phone ?? removed(traits, 'phone'),
    first_name: firstName ?? removed(traits, 'firstName'),
    last_name: lastName ?? removed(traits, 'lastName'),
    gender: genderOf(gender),
    dob: birthday,
    home_city: city,
    country: countryOf(country),
    image_url: textOf(traits['avatar']),
    language: languageOf(traits['language'] ?? traits['locale'] ?? inContext['locale']),
    time_zone: textOf(traits['timezone'] ?? traits['time_zone'] ?? inContext['timezone']),
    current_location: locationOf(event),
  }
  return Object.fromEntries(
    Object.entries(fields).filter((field): field is [string, JsonValue] => field[1] !== undefined),
  )
}

function removed(traits: JsonObject, name: string): null | undefined {
  return traits[name] === null ? null : undefined
}

/** Braze takes M, F, O, N and P. */
function genderOf(gender: string | undefined): string | undefined {
  const letter = gender?.charAt(0).toUpperCase()
  return letter !== undefined && 'MFONP'.includes(letter) ? letter : undefined
}

/** Braze takes countries as codes of two letters. */
function countryOf(country: string | undefined): string | undefined {
  return country !== undefined && /^[a-z]{2}$/i.test(country) ? country.toUpperCase() : undefined
}

/** Of `de-AT` the language. */
function languageOf(locale: JsonValue | undefined): string | undefined {
  return typeof locale === 'string' ? /^[a-z]{2}(?=$|[-_])/i.exec(locale)?.[0].toLowerCase() : undefined
}

function locationOf(event: StoredEvent): JsonObject | undefined {
  const { latitude, longitude } = contextObject(event, 'location')
  return typeof latitude === 'number' && typeof longitude === 'number' ? { longitude, latitude } : undefined
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
