import { type AnswerClass, isJsonObject, type JsonObject, type StoredEvent } from '@millrace/protocol'
import type { DestinationModule, TransformContext } from '../definition.ts'
import {
  anonymousId,
  contextObject,
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
 * Sends events by Amplitude's HTTP V2 API, and what is said of groups by its Group Identify API.
 *
 * @see docs/destinations/amplitude.md
 */
export const destination: DestinationModule = { definition, transform, classify }

function transform(event: StoredEvent, { config }: TransformContext): RequestObject[] {
  const { apiKey, region, groupType } = config
  if (typeof apiKey !== 'string' || apiKey === '') throw new Error('apiKey is missing')
  const host = hostOf(region)
  if (event.type === 'group') {
    const type = typeof groupType === 'string' && groupType !== '' ? groupType : 'company'
    const group = { group_type: type, group_value: groupId(event), group_properties: groupTraits(event) }
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const identify = { api_key: apiKey, identification: JSON.stringify([group]) }
    return [
      requestObject({ method: 'POST', endpoint: `https://${host}/groupidentify`, headers, body: { FORM: identify } }),
    ]
  }
  const headers = { 'content-type': 'application/json' }
  // Ids are as long as the customer makes them; Amplitude would leave out those under five characters.
  const upload = { api_key: apiKey, events: [amplitudeEvent(event)], options: { min_id_length: 1 } }
  return [requestObject({ method: 'POST', endpoint: `https://${host}/2/httpapi`, headers, body: { JSON: upload } })]
}

/** The body has a status of its own, which goes first. */
function classify({ status, body }: { status: number; body: unknown }): AnswerClass | undefined {
  if (status < 200 || status > 299 || !isJsonObject(body)) return undefined
  const { code, error } = body
  if (typeof code === 'number' && (code < 200 || code > 299)) return code === 429 || code >= 500 ? 'retry' : 'abort'
  return typeof error === 'string' && error !== '' ? 'abort' : undefined
}

function hostOf(region: unknown): string {
  switch (region) {
    case undefined:
    case null:
    case '':
    case 'US':
      return 'api2.amplitude.com'
    case 'EU':
      return 'api.eu.amplitude.com'
    default:
      throw new Error(`Unsupported region ${String(region)}`)
  }
}

function amplitudeEvent(event: StoredEvent): JsonObject {
  const user = userId(event)
  const device = anonymousId(event)
  if (user === undefined && device === undefined) throw new Error('userId or anonymousId is missing')
  return {
    ...present({
      user_id: user,
      device_id: device,
      event_type: eventType(event),
      time: eventTime(event),
      insert_id: duplicateId(event),
      session_id: sessionId(event),
    }),
    event_properties: event.type === 'identify' ? {} : eventProperties(event),
    user_properties: userTraits(event),
    ...deviceAndPlace(event),
  }
}

function eventType(event: StoredEvent): string {
  switch (event.type) {
    case 'identify':
      return '$identify'
    case 'track':
      return trackName(event)
    default:
      return viewName(event)
  }
}

/** Ours is the second at which the session began, Amplitude's the millisecond. */
function sessionId({ context }: StoredEvent): number | undefined {
  const seconds = isJsonObject(context) ? context['sessionId'] : undefined
  if (typeof seconds !== 'number' || !Number.isSafeInteger(seconds) || seconds <= 0) return undefined
  return seconds < FIRST_MILLISECONDS ? seconds * 1_000 : seconds
}

/** As seconds the year 5138, as milliseconds 1973: what is smaller counts seconds. */
const FIRST_MILLISECONDS = 100_000_000_000

function deviceAndPlace(event: StoredEvent): JsonObject {
  const { context, channel } = event
  const { locale } = isJsonObject(context) ? context : {}
  const app = contextObject(event, 'app')
  const os = contextObject(event, 'os')
  const device = contextObject(event, 'device')
  const location = contextObject(event, 'location')
  const isApple = /^(ios|ipados|macos|tvos|watchos|visionos)$/i.test(String(os['name'] ?? device['type'] ?? ''))
  const advertisingId = device['advertisingId']
  return present({
    platform: device['type'] ?? (channel === 'web' ? 'Web' : undefined),
    os_name: os['name'],
    os_version: os['version'],
    device_brand: device['brand'],
    device_manufacturer: device['manufacturer'],
    device_model: device['model'],
    carrier: contextObject(event, 'network')['carrier'],
    app_version: app['version'],
    language: locale,
    country: location['country'],
    region: location['region'],
    city: location['city'],
    location_lat: location['latitude'],
    location_lng: location['longitude'],
    ip: deviceAddress(event),
    idfa: isApple ? advertisingId : undefined,
    adid: isApple ? undefined : advertisingId,
  })
}
