import { isJsonObject, type JsonObject, type StoredEvent } from '@millrace/protocol'
import {
  anonymousId,
  contextObject,
  deviceAddress,
  eventProperties,
  eventTime,
  externalId,
  present,
  userId,
  userTraits,
} from '../../event/event-facts.ts'
import { hashed, isHashed } from '../../event/hashed.ts'
import { BIRTHDAY_TRAITS, personOrForm } from '../../event/person.ts'
import { phoneDigits } from '../../event/phone-number.ts'

/**
 * The values by which Facebook finds the person: normalized and hashed, except those that it takes in clear.
 *
 * @throws Error if the event has none of them.
 * @see https://developers.facebook.com/docs/marketing-api/conversions-api/parameters/customer-information-parameters
 */
export function userData(event: StoredEvent, actionSource: string): JsonObject {
  const person = personOrForm(event)
  const data: JsonObject = {
    ...hashes({
      em: [person.email?.toLowerCase()],
      ph: [unlessHashed(person.phone, phoneDigits)],
      fn: [unlessHashed(person.firstName, lettersOf)],
      ln: [unlessHashed(person.lastName, lettersOf)],
      ge: [unlessHashed(person.gender, (text) => /^[fm]/.exec(text)?.[0])],
      db: [person.birthday?.replaceAll('-', '') ?? hashedBirthday(event)],
      ct: [unlessHashed(person.city, lettersOf)],
      st: [unlessHashed(person.region, lettersOf)],
      zp: [unlessHashed(person.postalCode, zipOf)],
      country: [unlessHashed(person.country, (text) => /^[a-z]{2}$/.exec(text)?.[0])],
      external_id: [userId(event)?.trim().toLowerCase(), anonymousId(event)?.trim().toLowerCase()],
    }),
    ...present({
      client_ip_address: deviceAddress(event),
      client_user_agent: userAgentOf(event),
      fbc: clickId(event),
      fbp: named(event, 'fbp'),
      madid: actionSource === 'app' ? contextObject(event, 'device')['advertisingId'] : undefined,
    }),
  }
  if (Object.keys(data).length === 0) {
    throw new Error(
      'Facebook needs a person: the event has no email, phone, userId, anonymousId, address or user agent',
    )
  }
  return data
}

function hashes(members: Record<string, (string | undefined)[]>): JsonObject {
  const filled = Object.entries(members).flatMap(([name, values]): [string, string[]][] => {
    const known = values.filter((value) => value !== undefined && value !== '')
    return known.length === 0 ? [] : [[name, known.map((value) => hashed(value!))]]
  })
  return Object.fromEntries(filled)
}

/** In lower case and normalized; a hash stays as it is. */
function unlessHashed(text: string | undefined, normalize: (text: string) => string | undefined): string | undefined {
  const lower = text?.toLowerCase()
  return lower === undefined || isHashed(lower) ? lower : normalize(lower)
}

function hashedBirthday(event: StoredEvent): string | undefined {
  const traits = userTraits(event)
  return BIRTHDAY_TRAITS.map((name) => traits[name]).find(isHashed)
}

/** Without spaces and punctuation. */
function lettersOf(text: string): string {
  return text.normalize('NFC').replace(/[^\p{L}\p{M}]+/gu, '')
}

/** Of a US zip code with four further digits the first five. */
function zipOf(code: string): string | undefined {
  return code.replace(/\s+/g, '').split('-')[0]
}

function userAgentOf({ context }: StoredEvent): string | undefined {
  const agent = isJsonObject(context) ? context['userAgent'] : undefined
  return typeof agent === 'string' ? agent.slice(0, 1_000) : undefined
}

/** The `_fbc` cookie, else made of the click id in the address of the page, as Facebook describes it. */
function clickId(event: StoredEvent): string | undefined {
  const cookie = named(event, 'fbc')
  if (cookie !== undefined) return cookie
  const { url } = contextObject(event, 'page')
  const click = typeof url === 'string' ? URL.parse(url)?.searchParams.get('fbclid') : undefined
  const time = eventTime(event)
  return click && time !== undefined ? `fb.1.${time}.${click}` : undefined
}

/** An external id of this type, else a property of this name. */
function named(event: StoredEvent, name: string): string | undefined {
  const value = externalId(event, name) ?? eventProperties(event)[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}
