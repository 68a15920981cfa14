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
} from '../../event/event-facts.ts'
import { hashed } from '../../event/hashed.ts'
import { personOf } from '../../event/person.ts'

/**
 * The values by which Facebook finds the person: normalized and hashed, except those that it takes in clear.
 *
 * @throws Error if the event has none of them.
 * @see https://developers.facebook.com/docs/marketing-api/conversions-api/parameters/customer-information-parameters
 */
export function userData(event: StoredEvent, actionSource: string): JsonObject {
  const person = personOf(event)
  const data: JsonObject = {
    ...hashes({
      em: [person.email?.toLowerCase()],
      ph: [person.phone?.replace(/\D/g, '').replace(/^0+/, '')],
      fn: [lettersOf(person.firstName)],
      ln: [lettersOf(person.lastName)],
      ge: [/^[fm]/i.exec(person.gender ?? '')?.[0].toLowerCase()],
      db: [person.birthday?.replaceAll('-', '')],
      ct: [lettersOf(person.city)],
      st: [lettersOf(person.region)],
      zp: [zipOf(person.postalCode)],
      country: [/^[a-z]{2}$/i.exec(person.country ?? '')?.[0].toLowerCase()],
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

/** Lower case, without spaces and punctuation; a hash stays as it is. */
function lettersOf(text: string | undefined): string | undefined {
  const lower = text?.toLowerCase()
  return lower !== undefined && /^[0-9a-f]{64}$/.test(lower) ? lower : lower?.replace(/[^\p{L}\p{M}]+/gu, '')
}

/** Of a US zip code with four further digits the first five. */
function zipOf(code: string | undefined): string | undefined {
  return code?.toLowerCase().replace(/\s+/g, '').split('-')[0]
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
