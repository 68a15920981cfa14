import { isJsonObject, type JsonObject, type JsonValue, type StoredEvent, setMember } from '@millrace/protocol'
import { configNames } from '../../config/config-names.ts'
import {
  anonymousId,
  contextObject,
  deviceAddress,
  externalId,
  present,
  userId,
  userTraits,
} from '../../event/event-facts.ts'
import { CONTACT_TRAITS, NAME_TRAITS, type Person, PLACE_TRAITS, personOf, personOrForm } from '../../event/person.ts'
import { e164 } from '../../event/phone-number.ts'

/**
 * The profile of an event. Only events may name it by an anonymous id.
 *
 * @throws Error without an id that Klaviyo takes.
 */
export function eventProfile(event: StoredEvent, config: JsonObject): JsonObject {
  const identifiers = identifiersOf(event, config)
  const anonymous = anonymousId(event)
  const attributes = { ...identifiers.attributes, ...present({ anonymous_id: anonymous }) }
  if (identifiers.id === undefined && Object.keys(attributes).length === 0) {
    throw new Error(
      'Klaviyo needs a user: the event has no email, no phone with country code, no userId and no anonymousId',
    )
  }
  return { type: 'profile', ...present({ id: identifiers.id }), attributes }
}

/**
 * The traits of an identify as a profile.
 *
 * @throws Error without an id that Klaviyo takes: it imports no anonymous profile.
 */
export function importedProfile(event: StoredEvent, config: JsonObject): JsonObject {
  const { id, attributes } = identifiersOf(event, config)
  if (id === undefined && Object.keys(attributes).length === 0) {
    throw new Error('Klaviyo needs a user: the event has no email, no phone with country code and no userId')
  }
  const traits = userTraits(event)
  const person = personOf(event)
  const patch = patchOf(traits, config)
  const properties = customProperties(event, traits, person, config)
  return {
    type: 'profile',
    ...present({ id }),
    attributes: {
      ...attributes,
      ...present({
        first_name: person.firstName,
        last_name: person.lastName,
        organization: organizationOf(traits),
        title: traits['title'] ?? traits['jobTitle'],
        image: traits['avatar'],
        locale: traits['locale'] ?? localeOf(event),
      }),
      ...locationOf(event, traits, person),
      ...(Object.keys(properties).length === 0 ? {} : { properties }),
    },
    ...(Object.keys(patch).length === 0 ? {} : { meta: { patch_properties: patch } }),
  }
}

function identifiersOf(
  event: StoredEvent,
  { userIdAs }: JsonObject,
): { id: string | undefined; attributes: JsonObject } {
  const user = userId(event)
  // A known user may type another person's address into a form.
  const { email, phone } = user === undefined ? personOrForm(event) : personOf(event)
  const external = userIdAs === 'property' ? undefined : user
  return {
    id: externalId(event, 'klaviyoProfileId'),
    attributes: present({ email, phone_number: e164(phone), external_id: external }),
  }
}

const OWN_FIELDS = new Set<string>([
  ...[...NAME_TRAITS, ...PLACE_TRAITS, ...CONTACT_TRAITS],
  ...['company', 'organization', 'title', 'jobTitle', 'avatar', 'locale', 'timezone'],
])

/** The other traits. A phone number without its country code is a property, since Klaviyo would refuse the profile. */
function customProperties(event: StoredEvent, traits: JsonObject, { phone }: Person, config: JsonObject): JsonObject {
  const patched = new Set(PATCHES.flatMap(([variable]) => configNames(config[variable])))
  const properties: JsonObject = {}
  for (const [name, value] of Object.entries(traits)) {
    if (!OWN_FIELDS.has(name) && !patched.has(name)) setMember(properties, name, value)
    else if (name === 'company' && isJsonObject(value)) properties['company'] = value
    else if (configNames(config['unsetTraits']).includes(name) && value !== null) setMember(properties, name, value)
  }
  if (phone !== undefined && e164(phone) === undefined) properties['phone'] = phone
  const user = userId(event)
  if (config['userIdAs'] === 'property' && user !== undefined) properties['user_id'] = user
  return properties
}

const PATCHES = [
  ['appendTraits', 'append'],
  ['unappendTraits', 'unappend'],
  ['unsetTraits', 'unset'],
] as const

/** What changes lists and removes properties, by the traits that the configuration names. */
function patchOf(traits: JsonObject, config: JsonObject): JsonObject {
  const patch: JsonObject = {}
  for (const [variable, operation] of PATCHES) {
    const names = configNames(config[variable]).filter((name) => Object.hasOwn(traits, name))
    if (operation === 'unset') {
      const removed = names.filter((name) => traits[name] === null)
      if (removed.length > 0) patch[operation] = removed
    } else if (names.length > 0) {
      const values: JsonObject = {}
      for (const name of names) setMember(values, name, traits[name]!)
      patch[operation] = values
    }
  }
  return patch
}

function organizationOf({ organization, company }: JsonObject): JsonValue | undefined {
  return organization ?? (isJsonObject(company) ? company['name'] : company)
}

function localeOf({ context }: StoredEvent): JsonValue | undefined {
  return isJsonObject(context) ? context['locale'] : undefined
}

function locationOf(event: StoredEvent, traits: JsonObject, person: Person): JsonObject {
  const { latitude, longitude } = contextObject(event, 'location')
  const { context } = event
  const location = present({
    address1: person.street,
    city: person.city,
    region: person.region,
    zip: person.postalCode,
    country: person.country,
    latitude,
    longitude,
    timezone: traits['timezone'] ?? (isJsonObject(context) ? context['timezone'] : undefined),
    ip: deviceAddress(event),
  })
  return Object.keys(location).length === 0 ? {} : { location }
}
