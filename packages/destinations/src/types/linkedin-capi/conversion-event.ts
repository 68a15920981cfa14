import type { JsonObject, StoredEvent } from '@millrace/protocol'
import { duplicateId, eventProperties, eventTime, present, userTraits } from '../../event/event-facts.ts'
import { hashed } from '../../event/hashed.ts'
import { personOrForm } from '../../event/person.ts'
import { orderAmount } from '../../event/products.ts'

/** @throws Error for an event without a time, and for one that LinkedIn could compare with nobody. */
export function conversionEvent(event: StoredEvent, conversionId: string): JsonObject {
  const time = eventTime(event)
  if (time === undefined) throw new Error('timestamp is missing')
  return {
    conversion: `urn:lla:llaPartnerConversion:${conversionId}`,
    conversionHappenedAt: time,
    ...conversionValue(eventProperties(event)),
    user: userOf(event),
    ...present({ eventId: duplicateId(event) }),
  }
}

function conversionValue(properties: JsonObject): JsonObject {
  const amount = orderAmount(properties)
  const { currency } = properties
  if (amount === undefined || typeof currency !== 'string' || currency === '') return {}
  return { conversionValue: { currencyCode: currency.toUpperCase(), amount: String(amount) } }
}

/** LinkedIn wants the list of ids even if it is empty; then it compares first and last names. */
function userOf(event: StoredEvent): JsonObject {
  const { email, firstName, lastName, country } = personOrForm(event)
  const { li_fat_id } = { ...userTraits(event), ...eventProperties(event) } as JsonObject
  const userIds = [
    ...(email === undefined ? [] : [{ idType: 'SHA256_EMAIL', idValue: hashed(email.toLowerCase()) }]),
    ...(typeof li_fat_id === 'string' && li_fat_id !== ''
      ? [{ idType: 'LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID', idValue: li_fat_id }]
      : []),
  ]
  const hasName = firstName !== undefined && lastName !== undefined
  if (userIds.length === 0 && !hasName) {
    throw new Error('traits.email, properties.li_fat_id, or traits.firstName and traits.lastName are missing')
  }
  return hasName ? { userIds, userInfo: userInfo(event, firstName, lastName, country) } : { userIds }
}

function userInfo(event: StoredEvent, firstName: string, lastName: string, country: string | undefined): JsonObject {
  const { title, company, companyName } = userTraits(event)
  const named = typeof company === 'object' && company !== null && !Array.isArray(company) ? company['name'] : company
  const countryCode = country !== undefined && /^[A-Za-z]{2}$/.test(country) ? country.toUpperCase() : undefined
  return present({ firstName, lastName, title, companyName: companyName ?? named, countryCode })
}
