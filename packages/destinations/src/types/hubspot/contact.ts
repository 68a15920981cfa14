import { isJsonObject, type JsonObject, type JsonValue, type StoredEvent } from '@millrace/protocol'
import { duplicateId, present, userTraits } from '../../event/event-facts.ts'
import { personOf } from '../../event/person.ts'
import { propertyText, renamed } from './property-values.ts'

/**
 * An identify as a contact, which HubSpot makes or updates by its e-mail address. The trace id comes back with a refusal.
 *
 * @throws Error without an e-mail address.
 * @see https://developers.hubspot.com/docs/api-reference/legacy/crm/objects/contacts/batch/upsert-contacts
 */
export function contactInput(event: StoredEvent, { contactProperties }: JsonObject): JsonObject {
  const traits = userTraits(event)
  const person = personOf(event)
  if (person.email === undefined) throw new Error('traits.email is missing: HubSpot knows contacts by it')
  return {
    id: person.email,
    idProperty: 'email',
    ...present({ objectWriteTraceId: duplicateId(event) }),
    properties: {
      email: person.email,
      ...cleared(traits),
      ...present({
        firstname: person.firstName,
        lastname: person.lastName,
        phone: person.phone,
        address: person.street,
        city: person.city,
        state: person.region,
        zip: person.postalCode,
        country: person.country,
        company: companyOf(traits),
        jobtitle: propertyText(traits['title'] ?? traits['jobTitle']),
        website: propertyText(traits['website']),
      }),
      ...renamed(traits, contactProperties),
    },
  }
}

/** The traits from which a default property comes. */
const SOURCES: [property: string, traits: readonly string[]][] = [
  ['firstname', ['firstName', 'first_name', 'firstname', 'name']],
  ['lastname', ['lastName', 'last_name', 'lastname', 'name']],
  ['phone', ['phone', 'phoneNumber', 'phone_number']],
  ['company', ['company']],
  ['jobtitle', ['title', 'jobTitle']],
  ['website', ['website']],
]
/** The same for traits that may also be members of `address`. */
const PLACE_SOURCES: [property: string, traits: readonly string[]][] = [
  ['address', ['street']],
  ['city', ['city']],
  ['state', ['state', 'region']],
  ['zip', ['postalCode', 'postal_code', 'zip']],
  ['country', ['country']],
]

/** Default properties of which a trait is null. */
function cleared(traits: JsonObject): JsonObject {
  const { address, company } = traits
  const place = isJsonObject(address) ? address : {}
  const names = [
    ...SOURCES.filter(([, sources]) => sources.some((name) => traits[name] === null)),
    ...PLACE_SOURCES.filter(
      ([, sources]) => address === null || sources.some((name) => place[name] === null || traits[name] === null),
    ),
  ].map(([property]) => property)
  if (isJsonObject(company) && company['name'] === null) names.push('company')
  return Object.fromEntries(names.map((name) => [name, '']))
}

function companyOf({ company }: JsonObject): JsonValue | undefined {
  return propertyText(isJsonObject(company) ? company['name'] : company)
}
