import type { JsonObject, StoredEvent } from '@millrace/protocol'
import { trackName } from '../../event/event-facts.ts'
import { type KnownEvent, knownEvent } from './known-events.ts'
import { isReservedEventName } from './reserved-names.ts'
import { snakeCase } from './snake-case.ts'

/** @throws Error for a name without a letter, for one that Google reserves, and for a screen of a web stream. */
export function ga4Event(event: StoredEvent, config: JsonObject): KnownEvent {
  if (event.type === 'page') return { name: 'page_view' }
  if (event.type === 'screen') return screenView(config)
  if (event.type === 'group') return { name: 'join_group' }
  const given = trackName(event)
  const known = knownEvent(given)
  if (known !== undefined) return known
  const name = snakeCase(given)
  if (name === '') throw new Error('event has no letter in its name')
  if (isReservedEventName(name, config)) {
    throw new Error(`GA4 reserves the event name ${name}: rename "${given}" before it is sent to GA4`)
  }
  return { name }
}

function screenView(config: JsonObject): KnownEvent {
  const name = 'screen_view'
  if (!isReservedEventName(name, config)) return { name }
  throw new Error('GA4 takes screen_view from app streams only: use firebaseAppId, or send a page')
}
