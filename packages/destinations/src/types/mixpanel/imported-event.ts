import { createHash } from 'node:crypto'
import type { JsonObject, StoredEvent } from '@millrace/protocol'
import { configNames } from '../../config/config-names.ts'
import {
  anonymousId,
  deviceAddress,
  duplicateId,
  eventProperties,
  eventTime,
  present,
  trackName,
  traitGroups,
  userId,
  userTraits,
} from '../../event/event-facts.ts'
import { configuredViewName, viewProperties } from '../../event/view-name.ts'
import { contextProperties } from './context-properties.ts'
import { distinctId } from './identity.ts'

/** A track, page or screen as an event of Mixpanel. Its properties go before the context, and what it is before both. */
export function importedEvent(event: StoredEvent, config: JsonObject): JsonObject {
  const isTrack = event.type === 'track'
  const properties = isTrack ? eventProperties(event) : viewProperties(event, config, eventProperties(event))
  const own = present({
    time: eventTime(event),
    $device_id: anonymousId(event),
    $user_id: userId(event),
    $insert_id: insertId(event),
    ip: deviceAddress(event),
  })
  return {
    event: isTrack ? trackName(event) : configuredViewName(event, config),
    properties: {
      ...contextProperties(event),
      ...properties,
      ...groupLists({ ...userTraits(event), ...properties }, config),
      ...own,
      distinct_id: distinctId(event, config),
    },
  }
}

/** The groups that configured traits name. Mixpanel attributes an event to each group of a list. */
export function groupLists(traits: JsonObject, { groupTraits }: JsonObject): Record<string, string[]> {
  const groups = Object.entries(traitGroups(traits, configNames(groupTraits)))
  return Object.fromEntries(groups.map(([key, ids]) => [key, Array.isArray(ids) ? ids : [ids]]))
}

const INSERT_ID = /^[A-Za-z0-9-]{1,36}$/

/** Mixpanel takes 36 letters, digits and hyphens; any other id is stood for by its digest. */
function insertId(event: StoredEvent): string | undefined {
  const id = duplicateId(event)
  if (id === undefined || INSERT_ID.test(id)) return id
  return createHash('sha256').update(id).digest('hex').slice(0, 36)
}
