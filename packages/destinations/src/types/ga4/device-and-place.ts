import { isJsonObject, type JsonObject, type JsonValue, type StoredEvent } from '@millrace/protocol'
import { contextObject, deviceAddress, present } from '../../event/event-facts.ts'

/** User agents of browsers have 80 to 300 characters; a client may send any length. */
const MAX_USER_AGENT = 1_000

/**
 * Where and on what it happened. Without these members Google takes both from what its own tag has seen of the client; what it
 * keeps of them is a setting of the property.
 */
export function deviceAndPlace(event: StoredEvent, { deviceAndPlace }: JsonObject): JsonObject {
  return deviceAndPlace === true ? { ...placeOf(event), ...deviceOf(event) } : {}
}

/** Google ignores the address where a place is given, so a place goes only with its country. */
function placeOf(event: StoredEvent): JsonObject {
  const { city, region, country } = contextObject(event, 'location')
  if (!isCode(country, /^[A-Z]{2}$/i)) return present({ ip_override: deviceAddress(event) })
  const region_id = isCode(region, /^[A-Z]{2}-[A-Z0-9]{1,3}$/i) ? region.toUpperCase() : undefined
  return { user_location: present({ city, region_id, country_id: country.toUpperCase() }) }
}

/** The user agent of a browser, from which Google takes all; of an app what its context names. */
function deviceOf(event: StoredEvent): JsonObject {
  const { userAgent, locale } = isJsonObject(event['context']) ? event['context'] : {}
  const isBrowser = event['channel'] !== 'mobile'
  if (isBrowser && typeof userAgent === 'string' && userAgent !== '') {
    return userAgent.length <= MAX_USER_AGENT ? { user_agent: userAgent } : {}
  }
  const os = contextObject(event, 'os')
  const { model, brand, manufacturer } = contextObject(event, 'device')
  const { width, height } = contextObject(event, 'screen')
  const device = present({
    language: locale,
    screen_resolution: isCount(width) && isCount(height) ? `${width}x${height}` : undefined,
    operating_system: os['name'],
    operating_system_version: os['version'],
    model,
    brand: brand ?? manufacturer,
  })
  return Object.keys(device).length === 0 ? {} : { device }
}

function isCode(value: JsonValue | undefined, form: RegExp): value is string {
  return typeof value === 'string' && form.test(value)
}

function isCount(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && value > 0
}
