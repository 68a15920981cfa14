import {
  formatTime,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type StoredEvent,
  setMember,
} from '@millrace/protocol'
import { configNames } from '../../config/config-names.ts'
import { amountOf } from '../../event/amount.ts'
import {
  contextObject,
  deviceAddress,
  eventProperties,
  eventTime,
  groupId,
  groupTraits,
  present,
  userTraits,
} from '../../event/event-facts.ts'
import { coordinate, countryCode } from './context-properties.ts'
import { distinctId } from './identity.ts'
import { groupLists } from './imported-event.ts'

/*
 * Updates of profiles. Each has one operation; a request takes a list of them.
 *
 * @see https://docs.mixpanel.com/reference/profile-batch-update
 */

/** What an identify says of its user. @throws Error without a user. */
export function userUpdates(event: StoredEvent, token: string, config: JsonObject): JsonObject[] {
  const traits = userTraits(event)
  const location = contextObject(event, 'location')
  const place = present({
    $latitude: coordinate(location['latitude']),
    $longitude: coordinate(location['longitude']),
  })
  const set: JsonObject = { ...namesAndPlace(traits, location) }
  const others: Record<string, JsonObject> = { $set_once: {}, $union: {}, $add: {}, $append: {} }
  const unset: string[] = []
  const operations = listedTraits(config)
  const groups = groupLists(traits, config)
  for (const [name, value] of Object.entries(traits)) {
    const shownName = PROFILE_NAMES.get(name) ?? name
    const operation = operationOn(operations.get(name), value)
    if (operation === '$unset') {
      unset.push(shownName)
      continue
    }
    const target = operation === undefined ? set : others[operation]!
    const ids = operation === undefined && Object.hasOwn(groups, name) ? groups[name] : undefined
    const given = ids ?? operand(operation, name, value)
    if (given !== undefined) setMember(target, shownName, given)
  }
  const profile = profileOf(event, token, config)
  const further = Object.entries(others).filter(([, members]) => Object.keys(members).length > 0)
  const isSet = Object.keys(set).length > 0 || further.length + unset.length === 0
  return [
    ...(isSet ? [{ ...profile, ...place, $set: set }] : []),
    ...further.map(([operation, members]) => ({ ...profile, [operation]: members })),
    ...(unset.length === 0 ? [] : [{ ...profile, $unset: unset }]),
  ]
}

/** What a sale adds to the profile of its user; nothing without an amount, a user or the wish for it. */
export function chargeUpdates(event: StoredEvent, token: string, config: JsonObject): JsonObject[] {
  const { trackCharges, revenueProperty } = config
  const amount = event.type === 'track' ? amountOf(eventProperties(event)['revenue']) : undefined
  if (amount === undefined || distinctId(event, config) === '') return []
  const profile = profileOf(event, token, config)
  const time = eventTime(event)
  // Dates are in UTC and end with their seconds.
  const transaction = present({
    $amount: amount,
    $time: time === undefined ? undefined : formatTime(time).slice(0, 19),
  })
  const hasTotal = typeof revenueProperty === 'string' && revenueProperty !== ''
  return [
    ...(trackCharges === true ? [{ ...profile, $append: { $transactions: transaction } }] : []),
    ...(hasTotal ? [{ ...profile, $add: { [revenueProperty]: amount } }] : []),
  ]
}

/** The profile of the user is gone; Mixpanel ignores the value. @throws Error without a user. */
export function deletion(event: StoredEvent, token: string, config: JsonObject): JsonObject {
  const { $token, $distinct_id } = profileOf(event, token, config)
  return { $token: $token!, $distinct_id: $distinct_id!, $delete: '' }
}

/** What a group call says of its groups: that of `groupId`, and those that configured traits name. @throws Error */
export function groupUpdates(event: StoredEvent, token: string, config: JsonObject): JsonObject[] {
  const { groupKey } = config
  const traits = groupTraits(event)
  const update = ($group_key: string, $group_id: string) => ({ $token: token, $group_key, $group_id, $set: traits })
  const named = Object.entries(groupLists(traits, config)).flatMap(([key, ids]) => ids.map((id) => update(key, id)))
  const hasId = event['groupId'] !== undefined && event['groupId'] !== null && event['groupId'] !== ''
  if (!hasId && named.length > 0) return named
  return [update(typeof groupKey === 'string' && groupKey !== '' ? groupKey : 'company', groupId(event)), ...named]
}

function profileOf(event: StoredEvent, token: string, config: JsonObject): JsonObject {
  const id = distinctId(event, config)
  if (id === '') throw new Error('userId or anonymousId is missing')
  // Without an address Mixpanel would place the user where this server is; "0" says that it is not known.
  return { $token: token, $distinct_id: id, $ip: deviceAddress(event) ?? '0' }
}

/** The variable that lists the traits of an operation. The first one that lists a trait counts. */
const LISTS: readonly [variable: string, operation: string][] = [
  ['setOnceTraits', '$set_once'],
  ['unionTraits', '$union'],
  ['addTraits', '$add'],
  ['appendTraits', '$append'],
  ['unsetTraits', '$unset'],
]

function listedTraits(config: JsonObject): Map<string, string> {
  const listed = new Map<string, string>()
  for (const [variable, operation] of LISTS) {
    for (const name of configNames(config[variable])) if (!listed.has(name)) listed.set(name, operation)
  }
  return listed
}

/** A trait to remove that has a value is set. */
function operationOn(listed: string | undefined, value: JsonValue): string | undefined {
  return listed === '$unset' && value !== null ? undefined : listed
}

/** The value as its operation takes it; undefined leaves it out. @throws Error for a value of another kind. */
function operand(operation: string | undefined, name: string, value: JsonValue): JsonValue | undefined {
  if (operation === undefined || operation === '$set_once') return value
  if (value === null) return undefined
  if (operation === '$append') return value
  if (operation === '$add') {
    if (typeof value === 'number') return value
    throw new Error(`traits.${name} must be a number, because addTraits lists it`)
  }
  const values = Array.isArray(value) ? value : [value]
  if (values.every((each) => typeof each === 'string' || typeof each === 'number')) {
    return values.length === 0 ? undefined : values
  }
  throw new Error(`traits.${name} must be a text, a number or a list of them, because unionTraits lists it`)
}

/** Traits that Mixpanel's profiles show under names of their own. */
const PROFILE_NAMES = new Map([
  ['email', '$email'],
  ['name', '$name'],
  ['firstName', '$first_name'],
  ['lastName', '$last_name'],
  ['phone', '$phone'],
  ['avatar', '$avatar'],
  ['createdAt', '$created'],
])

/** The full name where only its parts are given, and the place: by the traits, else by the context. */
function namesAndPlace(traits: JsonObject, location: JsonObject): JsonObject {
  const { name, firstName, lastName, city, region, country } = traits
  const address = isJsonObject(traits['address']) ? traits['address'] : {}
  const parts = [firstName, lastName].filter((part) => typeof part === 'string' && part !== '')
  return present({
    $name: name === undefined || name === null || name === '' ? parts.join(' ') : undefined,
    $city: textOf(address['city'], city, location['city']),
    $region: textOf(address['state'], region, location['region']),
    $country_code: countryCode(address['country']) ?? countryCode(country) ?? countryCode(location['country']),
  })
}

function textOf(...candidates: (JsonValue | undefined)[]): JsonValue | undefined {
  return candidates.find((each) => typeof each === 'string' && each !== '')
}
