import { isJsonObject, type JsonObject, type JsonValue, parseTime, type StoredEvent } from '@millrace/protocol'
import { amountOf } from '../../event/amount.ts'
import {
  eventProperties,
  eventTime,
  groupId,
  groupTraits,
  present,
  trackName,
  userId,
  userTraits,
} from '../../event/event-facts.ts'
import { CONTACT_TRAITS, NAME_TRAITS, personOf } from '../../event/person.ts'

const USER_TRAITS = new Set<string>([...CONTACT_TRAITS, ...NAME_TRAITS, 'createdAt', 'created_at', 'company'])
const COMPANY_TRAITS = ['name', 'plan', 'website', 'industry'] as const
const OWN_COMPANY_TRAITS = new Set<string>([...COMPANY_TRAITS, 'employees', 'size', 'monthlySpend', 'createdAt'])

/** A user as `POST /users` creates or updates it. @throws Error for a user without a userId and an address. */
export function userOf(event: StoredEvent): JsonObject {
  const traits = userTraits(event)
  const { phone, firstName, lastName } = personOf(event)
  const fullName = [firstName, lastName].filter((name) => name !== undefined).join(' ')
  const user: JsonObject = {
    ...identifierOf(event),
    ...present({
      name: typeof traits['name'] === 'string' ? traits['name'] : fullName,
      phone,
      signed_up_at: secondsOf(traits['createdAt'] ?? traits['created_at']),
    }),
  }
  const others = withoutNames(traits, USER_TRAITS)
  if (Object.keys(others).length > 0) user['custom_attributes'] = others
  const company = isJsonObject(traits['company']) ? companyReference(traits['company']) : undefined
  if (company !== undefined) user['companies'] = [company]
  return user
}

/** A company as `POST /companies` creates or updates it. @throws Error without a groupId. */
export function companyOf(event: StoredEvent): JsonObject {
  const traits = groupTraits(event)
  const company: JsonObject = {
    company_id: groupId(event),
    ...present(Object.fromEntries(COMPANY_TRAITS.map((name) => [name, traits[name]]))),
    ...present({
      size: amountOf(traits['employees'] ?? traits['size']),
      monthly_spend: amountOf(traits['monthlySpend']),
      remote_created_at: secondsOf(traits['createdAt']),
    }),
  }
  const others = withoutNames(traits, OWN_COMPANY_TRAITS)
  if (Object.keys(others).length > 0) company['custom_attributes'] = others
  return company
}

/** The user as a member of the company of a group call; undefined for an anonymous one. */
export function memberOf(event: StoredEvent): JsonObject | undefined {
  const { email } = personOf(event)
  if (userId(event) === undefined && email === undefined) return undefined
  return { ...identifierOf(event), companies: [{ company_id: groupId(event) }] }
}

/** @throws Error for an event without a name, a time, or a known user. */
export function dataEvent(event: StoredEvent): JsonObject {
  const time = eventTime(event)
  if (time === undefined) throw new Error('timestamp is missing')
  const record: JsonObject = {
    event_name: trackName(event),
    created_at: Math.floor(time / 1_000),
    ...identifierOf(event),
  }
  const properties = eventProperties(event)
  const metadata = { ...present(properties), ...priceOf(properties) }
  if (Object.keys(metadata).length > 0) record['metadata'] = metadata
  return record
}

function identifierOf(event: StoredEvent): JsonObject {
  const identifier = present({ user_id: userId(event), email: personOf(event).email })
  if (Object.keys(identifier).length === 0) throw new Error('userId or traits.email is missing')
  return identifier
}

function companyReference({ id, name }: JsonObject): JsonObject | undefined {
  const reference = present({ company_id: typeof id === 'number' ? String(id) : id, name })
  return typeof reference['company_id'] === 'string' ? reference : undefined
}

/** The revenue as a monetary amount, in hundredths. */
function priceOf({ revenue, currency }: JsonObject): JsonObject {
  const amount = amountOf(revenue)
  if (amount === undefined || amount <= 0 || typeof currency !== 'string' || currency === '') return {}
  return { price: { amount: Math.round(amount * 100), currency: currency.toLowerCase() } }
}

function withoutNames(traits: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(present(traits)).filter(([name]) => !names.has(name)))
}

/** Seconds since 1970 of a time in ISO 8601, or of a number of seconds or milliseconds. */
function secondsOf(value: JsonValue | undefined): number | undefined {
  if (typeof value === 'number') return Math.floor(value < 100_000_000_000 ? value : value / 1_000)
  const time = parseTime(value)
  return time === undefined ? undefined : Math.floor(time / 1_000)
}
