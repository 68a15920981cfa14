import { formatTime, isJsonObject, type JsonObject, type StoredEvent } from '@millrace/protocol'
import { uuidOf } from '../../event/derived-ids.ts'
import { duplicateId, eventProperties, eventTime, externalId, present, trackName } from '../../event/event-facts.ts'
import { lettersOf } from '../../event/letters.ts'
import { personOrForm } from '../../event/person.ts'
import { renamed, underOwnNames } from './property-values.ts'

/** The full name of the custom event that the configuration gives a track; undefined if it lists none. */
export function customEventName(event: StoredEvent, { eventNames }: JsonObject): string | undefined {
  const letters = lettersOf(String(event['event'] ?? ''))
  const listed = Array.isArray(eventNames) ? eventNames.filter(isJsonObject) : []
  const found = listed.find(({ eventName }) => typeof eventName === 'string' && lettersOf(eventName) === letters)
  const name = found?.['name']
  return typeof name === 'string' && name !== '' ? name : undefined
}

/**
 * A track as an occurrence of a custom event.
 *
 * @throws Error if the event names no contact.
 * @see https://developers.hubspot.com/docs/api-reference/legacy/events/send-event-data/guide
 */
export function occurrence(event: StoredEvent, eventName: string, config: JsonObject): JsonObject {
  trackName(event)
  const contact = present({
    email: personOrForm(event).email,
    utk: externalId(event, 'hubspotutk'),
    objectId: externalId(event, 'hubspotContactId'),
  })
  if (Object.keys(contact).length === 0) {
    throw new Error(
      'HubSpot needs a contact: the event has no email, and no external id hubspotutk or hubspotContactId',
    )
  }
  const properties = eventProperties(event)
  const { eventProperties: pairs } = config
  const time = eventTime(event)
  const id = duplicateId(event)
  return {
    eventName,
    ...contact,
    ...present({
      occurredAt: time === undefined ? undefined : formatTime(time),
      uuid: id === undefined ? undefined : uuidOf(id),
    }),
    properties: Array.isArray(pairs) && pairs.length > 0 ? renamed(properties, pairs) : underOwnNames(properties),
  }
}
