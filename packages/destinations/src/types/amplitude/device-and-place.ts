import { isJsonObject, type JsonObject, type JsonValue, type StoredEvent } from '@millrace/protocol'
import { contextObject, deviceAddress, present } from '../../event/event-facts.ts'
import { agentOf } from '../../event/user-agent.ts'

const APPLE = /^(ios|ipados|macos|tvos|watchos|visionos)$/i
const ANDROID = /^android$/i

/** What Amplitude keeps of device, system, app and place. */
export function deviceAndPlace(event: StoredEvent): JsonObject {
  const { context, channel } = event
  const { locale } = isJsonObject(context) ? context : {}
  const app = contextObject(event, 'app')
  const os = contextObject(event, 'os')
  const device = contextObject(event, 'device')
  const location = contextObject(event, 'location')
  const system = String(os['name'] ?? device['type'] ?? '')
  const isApple = APPLE.test(system)
  return present({
    platform: device['type'] ?? (channel === 'web' ? 'Web' : undefined),
    ...systemOf(event, os, device),
    device_brand: device['brand'],
    carrier: contextObject(event, 'network')['carrier'],
    app_version: app['version'],
    language: locale,
    country: location['country'],
    region: location['region'],
    city: location['city'],
    dma: location['dma'],
    location_lat: location['latitude'],
    location_lng: location['longitude'],
    ip: deviceAddress(event),
    idfa: isApple ? device['advertisingId'] : undefined,
    idfv: isApple ? device['id'] : undefined,
    adid: isApple ? undefined : device['advertisingId'],
    android_id: ANDROID.test(system) ? device['id'] : undefined,
  })
}

/**
 * System and device: what the context names, else what the user agent does. In a browser `os_name` is the browser, and the
 * device is called after its system, as Amplitude defines them.
 *
 * @see https://amplitude.com/docs/get-started/user-property-definitions
 */
function systemOf(event: StoredEvent, os: JsonObject, device: JsonObject): Record<string, JsonValue | undefined> {
  const hasSystem = isNamed(os['name'])
  const hasDevice = isNamed(device['model']) || isNamed(device['manufacturer'])
  const agent = hasSystem && hasDevice ? {} : agentOf(event)
  const browser = event['channel'] === 'mobile' ? undefined : agent.browser
  const seen = browser === undefined ? [agent.os, agent.osVersion] : [browser, agent.browserVersion]
  const model = agent.model ?? (browser === undefined ? undefined : agent.os)
  return {
    os_name: hasSystem ? os['name'] : seen[0],
    os_version: hasSystem ? os['version'] : seen[1],
    device_manufacturer: hasDevice ? device['manufacturer'] : agent.manufacturer,
    device_model: hasDevice ? device['model'] : model,
  }
}

function isNamed(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && value !== ''
}
