import type { JsonObject, JsonValue, StoredEvent } from '@millrace/protocol'
import { referrerOf, utmParameters } from '../../event/campaign.ts'
import { contextObject, present } from '../../event/event-facts.ts'
import { agentOf } from '../../event/user-agent.ts'

/**
 * The context of an event under Mixpanel's own names.
 *
 * @see https://docs.mixpanel.com/docs/data-structure/property-reference/default-properties
 */
export function contextProperties(event: StoredEvent): JsonObject {
  const app = contextObject(event, 'app')
  const network = contextObject(event, 'network')
  const location = contextObject(event, 'location')
  const referrer = referrerOf(event)
  return {
    ...present({
      $current_url: contextObject(event, 'page')['url'],
      $referrer: referrer?.url,
      $referring_domain: referrer?.domain,
      ...deviceProperties(event),
      $app_version_string: app['version'],
      $app_build_number: app['build'],
      $carrier: network['carrier'],
      $wifi: truthOf(network['wifi']),
      $bluetooth_enabled: truthOf(network['bluetooth']),
      $city: location['city'],
      $region: location['region'],
      mp_country_code: countryCode(location['country']),
      $latitude: coordinate(location['latitude']),
      $longitude: coordinate(location['longitude']),
    }),
    ...utmParameters(event),
  }
}

/** System and device: what the context names, else what the user agent does. An app is no browser. */
function deviceProperties(event: StoredEvent): Record<string, JsonValue | undefined> {
  const os = contextObject(event, 'os')
  const device = contextObject(event, 'device')
  const screen = contextObject(event, 'screen')
  const hasSystem = isNamed(os['name'])
  const hasDevice = isNamed(device['name']) || isNamed(device['model'])
  const isApp = event['channel'] === 'mobile'
  const agent = isApp && hasSystem && hasDevice ? {} : agentOf(event)
  const isAndroid = /^android$/i.test(String(os['name'] ?? device['type'] ?? ''))
  return {
    $browser: isApp ? undefined : agent.browser,
    $browser_version: isApp ? undefined : agent.browserVersion,
    $os: hasSystem ? os['name'] : agent.os,
    $os_version: hasSystem ? os['version'] : agent.osVersion,
    $device: hasDevice ? device['name'] : agent.model,
    $manufacturer: device['manufacturer'],
    $brand: device['brand'],
    $model: device['model'],
    $screen_width: screen['width'],
    $screen_height: screen['height'],
    // Elsewhere the density is a factor and no number of dots.
    $screen_dpi: isAndroid ? screen['density'] : undefined,
  }
}

/** Mixpanel keeps countries as codes of two letters. */
export function countryCode(country: JsonValue | undefined): string | undefined {
  return typeof country === 'string' && /^[A-Za-z]{2}$/.test(country) ? country.toUpperCase() : undefined
}

/** Degrees; anything else is left out. */
export function coordinate(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function truthOf(value: JsonValue | undefined): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined
}

function isNamed(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && value !== ''
}
