import { isJsonObject, type JsonObject, type JsonValue, type StoredEvent } from '@millrace/protocol'
import { contextObject, eventTime, trackName } from '../../event/event-facts.ts'
import { byLetters } from '../../event/letters.ts'
import { seconds } from './person-operations.ts'

const deviceAction = byLetters({
  'Application Installed': 'add_device',
  'Application Opened': 'add_device',
  'Application Uninstalled': 'delete_device',
})

/** The device that an event of the app's life cycle adds or removes; undefined if it names none. */
export function deviceOperation(event: StoredEvent, identifiers: JsonObject): JsonObject | undefined {
  const action = event.type === 'track' ? deviceAction(trackName(event)) : undefined
  const device = contextObject(event, 'device')
  const { token } = device
  if (action === undefined || typeof token !== 'string' || token === '') return undefined
  if (action === 'delete_device') return { type: 'person', identifiers, action, device: { token } }
  const os = contextObject(event, 'os')
  const platform = /android/i.test(String(os['name'] ?? device['type'] ?? '')) ? 'android' : 'ios'
  const time = eventTime(event)
  const { context } = event
  const attributes = texts({
    device_os: os['version'],
    device_model: device['model'],
    app_version: contextObject(event, 'app')['version'],
    device_locale: isJsonObject(context) ? context['locale'] : undefined,
  })
  return {
    type: 'person',
    identifiers,
    action,
    device: { token, platform, ...(time === undefined ? {} : { last_used: seconds(time) }), attributes },
  }
}

function texts(members: Record<string, JsonValue | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter((member): member is [string, string] => typeof member[1] === 'string'),
  )
}
