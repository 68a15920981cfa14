import { isJsonObject, type JsonObject, type JsonValue, type StoredEvent } from '@millrace/protocol'
import { eventProperties, userTraits } from '../../event/event-facts.ts'
import { hashed } from '../../event/hashed.ts'
import { withoutTrunkZero } from '../../event/phone-number.ts'

/** Email, phone and address of the user, each normalised and hashed as the Data Manager API asks for it. */
export function userIdentifiers(event: StoredEvent): JsonObject[] {
  const traits = userTraits(event)
  const { email, phone } = eventProperties(event)
  const emailAddress = normalisedEmail(traits['email']) ?? normalisedEmail(email)
  const phoneNumber = normalisedPhone(traits['phone']) ?? normalisedPhone(phone)
  const address = addressInfo(traits)
  return [
    ...(emailAddress === undefined ? [] : [{ emailAddress: hashed(emailAddress) }]),
    ...(phoneNumber === undefined ? [] : [{ phoneNumber: hashed(phoneNumber) }]),
    ...(address === undefined ? [] : [{ address }]),
  ]
}

const GMAIL = /^([^@]+)@(gmail|googlemail)\.com$/

/** Lower case without spaces; of Gmail addresses without dots and without what follows a plus. */
function normalisedEmail(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string') return undefined
  const email = value.replace(/\s+/g, '').toLowerCase()
  const [, name, domain] = GMAIL.exec(email) ?? []
  if (name !== undefined) return `${name.replace(/\+.*$/, '').replaceAll('.', '')}@${domain}.com`
  return email === '' ? undefined : email
}

const HASH = /^[0-9a-f]{64}$/

/** E.164: a plus and digits. A number without a country code could be that of somebody else. */
function normalisedPhone(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string') return undefined
  const phone = value.trim()
  if (HASH.test(phone)) return phone
  const digits = withoutTrunkZero(phone).replace(/\D/g, '')
  return phone.startsWith('+') && digits !== '' ? `+${digits}` : undefined
}

/** The service takes an address only as a whole. */
function addressInfo({ firstName, lastName, address }: JsonObject): JsonObject | undefined {
  const { country, postalCode } = isJsonObject(address) ? address : {}
  const givenName = normalisedName(firstName)
  const familyName = normalisedName(lastName)
  const regionCode = typeof country === 'string' && /^[A-Za-z]{2}$/.test(country) ? country.toUpperCase() : undefined
  const postal = typeof postalCode === 'number' ? String(postalCode) : postalCode
  if (givenName === undefined || familyName === undefined || regionCode === undefined) return undefined
  if (typeof postal !== 'string' || postal.trim() === '') return undefined
  return { givenName: hashed(givenName), familyName: hashed(familyName), regionCode, postalCode: postal.trim() }
}

function normalisedName(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string') return undefined
  const name = value.normalize('NFC').toLowerCase().replace(/\p{P}/gu, '').trim()
  return name === '' ? undefined : name
}
