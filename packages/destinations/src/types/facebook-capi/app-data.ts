import { isJsonObject, type JsonObject, type JsonValue, type StoredEvent } from '@millrace/protocol'
import { contextObject } from '../../event/event-facts.ts'

/**
 * What Facebook wants to know of an app and its device; empty for another system than iOS and Android.
 *
 * @see https://developers.facebook.com/docs/marketing-api/conversions-api/parameters/app-data
 */
export function appData(event: StoredEvent): JsonObject {
  const os = contextObject(event, 'os')
  const device = contextObject(event, 'device')
  const system = String(os['name'] ?? device['type'] ?? '')
  const version = /^(ios|ipados)/i.test(system) ? 'i2' : /^android/i.test(system) ? 'a2' : undefined
  if (version === undefined) return {}
  const app = contextObject(event, 'app')
  const screen = contextObject(event, 'screen')
  const { context } = event
  const { locale, timezone } = isJsonObject(context) ? context : {}
  const mayTrack = device['adTrackingEnabled'] === true ? 1 : 0
  // Sixteen texts in Facebook's order; an unknown one is empty.
  const extinfo = [
    ...[version, app['namespace'], app['version'], app['build'], os['version'], device['model'], locale, undefined],
    ...[contextObject(event, 'network')['carrier'], screen['width'], screen['height'], screen['density']],
    ...[undefined, undefined, undefined, timezone],
  ].map(textOf)
  return { advertiser_tracking_enabled: mayTrack, application_tracking_enabled: mayTrack, extinfo }
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
