import { createHash } from 'node:crypto'
import {
  type AnswerClass,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type StoredEvent,
  setMember,
} from '@millrace/protocol'
import type { DestinationModule, TransformContext } from '../definition.ts'
import {
  anonymousId,
  deviceAddress,
  duplicateId,
  eventProperties,
  eventTime,
  groupId,
  groupTraits,
  present,
  trackName,
  userId,
  userTraits,
  viewName,
} from '../event-facts.ts'
import { type RequestObject, requestObject } from '../request-object.ts'
import { definition } from './definition.ts'

/**
 * Sends events to Mixpanel's import, and what is said of users and groups to their profiles.
 *
 * @see docs/destinations/mixpanel.md
 */
export const destination: DestinationModule = { definition, transform, classify }

function transform(event: StoredEvent, { config, basicAuth }: TransformContext): RequestObject[] {
  const { projectToken: token, region, groupKey } = config
  if (typeof token !== 'string' || token === '') throw new Error('projectToken is missing')
  const origin = `https://${hostOf(region)}`
  switch (event.type) {
    case 'identify':
      return [posted(`${origin}/engage`, profile(event, token))]
    case 'group': {
      const key = typeof groupKey === 'string' && groupKey !== '' ? groupKey : 'company'
      const group = { $token: token, $group_key: key, $group_id: groupId(event), $set: groupTraits(event) }
      return [posted(`${origin}/groups`, group)]
    }
    default: {
      const request = posted(`${origin}/import`, importedEvent(event))
      request.params['strict'] = 1
      request.headers['authorization'] = basicAuth(token, '')
      return [request]
    }
  }
}

/**
 * Profiles are answered 200 with `0`, or with a status in the body, where nothing was taken. A strict import needs nothing:
 * its 400 names bad data.
 */
function classify({ status, body }: { status: number; body: unknown }): AnswerClass | undefined {
  if (status < 200 || status > 299) return undefined
  const isRefused = isJsonObject(body) ? body['status'] === 0 || hasText(body['error']) : body === 0
  return isRefused ? 'abort' : undefined
}

function hasText(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && value !== ''
}

function hostOf(region: unknown): string {
  switch (region) {
    case undefined:
    case null:
    case '':
    case 'US':
      return 'api.mixpanel.com'
    case 'EU':
      return 'api-eu.mixpanel.com'
    case 'IN':
      return 'api-in.mixpanel.com'
    default:
      throw new Error(`Unsupported region ${String(region)}`)
  }
}

/** Every route takes a list. */
function posted(endpoint: string, record: JsonObject): RequestObject {
  const headers = { 'content-type': 'application/json' }
  return requestObject({ method: 'POST', endpoint, headers, body: { JSON_ARRAY: { batch: JSON.stringify([record]) } } })
}

function importedEvent(event: StoredEvent): JsonObject {
  const name = event.type === 'track' ? trackName(event) : viewName(event)
  const own = present({
    time: eventTime(event),
    $device_id: anonymousId(event),
    $user_id: userId(event),
    $insert_id: insertId(event),
    ip: deviceAddress(event),
  })
  return { event: name, properties: { ...eventProperties(event), ...own, distinct_id: distinctId(event) } }
}

function profile(event: StoredEvent, token: string): JsonObject {
  const id = distinctId(event)
  if (id === '') throw new Error('userId or anonymousId is missing')
  // Without an address Mixpanel would place the user where this server is; "0" says that it is not known.
  return { $token: token, $distinct_id: id, $ip: deviceAddress(event) ?? '0', $set: profileTraits(userTraits(event)) }
}

/** As Mixpanel makes it itself; empty where there is no user, or it would invent one for this server. */
function distinctId(event: StoredEvent): string {
  const device = anonymousId(event)
  return userId(event) ?? (device === undefined ? '' : `$device:${device}`)
}

const INSERT_ID = /^[A-Za-z0-9-]{1,36}$/

/** Mixpanel takes 36 letters, digits and hyphens; any other id is stood for by its digest. */
function insertId(event: StoredEvent): string | undefined {
  const id = duplicateId(event)
  if (id === undefined || INSERT_ID.test(id)) return id
  return createHash('sha256').update(id).digest('hex').slice(0, 36)
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

function profileTraits(traits: JsonObject): JsonObject {
  const named: JsonObject = {}
  for (const [name, value] of Object.entries(traits)) setMember(named, PROFILE_NAMES.get(name) ?? name, value)
  return named
}
