import { isJsonObject, type JsonObject, type JsonValue, parseTime, type StoredEvent } from '@millrace/protocol'
import { eventProperties, userTraits } from './event-facts.ts'

/** The person that the traits of a user describe, under any of the usual names. */
export interface Person {
  readonly email?: string
  readonly phone?: string
  readonly firstName?: string
  readonly lastName?: string
  readonly gender?: string
  /** `YYYY-MM-DD` */
  readonly birthday?: string
  readonly street?: string
  readonly city?: string
  readonly region?: string
  readonly postalCode?: string
  readonly country?: string
}

/** Traits that `personOf` reads, by what they say. */
export const CONTACT_TRAITS = ['email', 'phone', 'phoneNumber', 'phone_number'] as const
export const NAME_TRAITS = [
  'name',
  'firstName',
  'first_name',
  'firstname',
  'lastName',
  'last_name',
  'lastname',
] as const
export const BIRTHDAY_TRAITS = ['birthday', 'dateOfBirth', 'date_of_birth', 'dob'] as const
export const PLACE_TRAITS = [
  'address',
  'street',
  'city',
  'state',
  'region',
  'zip',
  'postalCode',
  'postal_code',
  'country',
] as const

export function personOf(event: StoredEvent): Person {
  const traits = userTraits(event)
  const address = isJsonObject(traits['address']) ? traits['address'] : {}
  const [first, last] = namesOf(traits)
  return given({
    email: firstText(traits['email']),
    phone: firstText(traits['phone'], traits['phoneNumber'], traits['phone_number']),
    firstName: first,
    lastName: last,
    gender: firstText(traits['gender']),
    birthday: dayOf(firstText(...BIRTHDAY_TRAITS.map((name) => traits[name]))),
    street: firstText(address['street'], traits['street']),
    city: firstText(address['city'], traits['city']),
    region: firstText(address['state'], address['region'], traits['state'], traits['region']),
    postalCode: postalCodeOf(address) ?? postalCodeOf(traits),
    country: firstText(address['country'], traits['country']),
  })
}

/**
 * As `personOf`, and of a track also the e-mail address and phone number in its properties, where forms put them. They may belong to
 * another person: do not write them into the profile of a known user.
 */
export function personOrForm(event: StoredEvent): Person {
  const person = personOf(event)
  if (event.type !== 'track') return person
  const { email, phone } = eventProperties(event)
  return given({ ...person, email: person.email ?? firstText(email), phone: person.phone ?? firstText(phone) })
}

/** A full name is split at its first space. */
function namesOf(traits: JsonObject): [string | undefined, string | undefined] {
  const first = firstText(traits['firstName'], traits['first_name'], traits['firstname'])
  const last = firstText(traits['lastName'], traits['last_name'], traits['lastname'])
  const name = firstText(traits['name'])
  if (first !== undefined || last !== undefined || name === undefined) return [first, last]
  const [head, ...rest] = name.trim().split(/\s+/)
  return [head, rest.length === 0 ? undefined : rest.join(' ')]
}

function postalCodeOf(place: JsonObject): string | undefined {
  return firstText(place['postalCode'], place['postal_code'], place['zip'])
}

function dayOf(text: string | undefined): string | undefined {
  const day = text?.slice(0, 10)
  return day !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(day) && parseTime(`${day}T00:00:00Z`) !== undefined
    ? day
    : undefined
}

function firstText(...values: (JsonValue | undefined)[]): string | undefined {
  for (const value of values) {
    if (typeof value === 'string' && value.trim() !== '') return value.trim()
    if (typeof value === 'number') return String(value)
  }
  return undefined
}

function given(person: { [K in keyof Person]: Person[K] | undefined }): Person {
  return Object.fromEntries(Object.entries(person).filter(([, value]) => value !== undefined))
}
