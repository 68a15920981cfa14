import { isJsonObject, type JsonObject, type StoredEvent } from '@millrace/protocol'
import { configNames } from '../../config/config-names.ts'
import {
  anonymousId,
  duplicateId,
  eventProperties,
  eventTime,
  present,
  trackName,
  traitGroups,
  userId,
  userTraits,
  withTraits,
} from '../../event/event-facts.ts'
import { configuredViewName, viewProperties } from '../../event/view-name.ts'
import { fill } from '../../messages/template.ts'
import { deviceAndPlace } from './device-and-place.ts'
import { eventRevenue, orderedProducts, productRevenue } from './revenue.ts'
import { attributionOf, identifiedProperties, plainProperties } from './user-properties.ts'

/** An identify, track, page or screen as events of one upload: first what changes the user, last the products of an order. */
export function uploadedEvents(event: StoredEvent, config: JsonObject): JsonObject[] {
  if (event.type === 'identify') {
    return [uploaded(event, config, { event_type: '$identify', user_properties: identifiedProperties(event, config) })]
  }
  const isTrack = event.type === 'track'
  const user_properties = plainProperties(event, config)
  const attribution = attributionOf(event, config)
  const properties = eventProperties(event)
  const isPerProduct = config['revenue'] === 'product'
  const products = isTrack && isPerProduct ? orderedProducts(properties) : []
  const hasRevenue = isTrack && config['revenue'] !== 'none' && products.length === 0
  return [
    ...(attribution === undefined
      ? []
      : [uploaded(event, config, { event_type: '$identify', user_properties: { ...attribution } }, '-attribution')]),
    uploaded(event, config, {
      event_type: isTrack ? trackName(event) : configuredViewName(event, config),
      event_properties: isTrack ? properties : viewProperties(event, config, properties),
      user_properties,
      ...(hasRevenue ? eventRevenue(properties) : {}),
    }),
    ...products.map((product, i) =>
      uploaded(
        event,
        config,
        {
          event_type: 'Product Purchased',
          event_properties: product,
          user_properties,
          ...productRevenue(product),
        },
        `-product-${i + 1}`,
      ),
    ),
  ]
}

/** That the user of a group call belongs to its group; undefined if the call names no user. */
export function membership(event: StoredEvent, config: JsonObject, groups: JsonObject): JsonObject | undefined {
  if (userId(event) === undefined && anonymousId(event) === undefined) return undefined
  return uploaded(event, config, { event_type: '$identify', groups })
}

/**
 * @param own what this event has besides user, time, session, groups and device.
 * @param suffix of the id for duplicates, where one event of ours gives several.
 */
function uploaded(
  event: StoredEvent,
  config: JsonObject,
  { event_type, event_properties, user_properties, groups, ...own }: JsonObject,
  suffix = '',
): JsonObject {
  const user = userId(event)
  const device = anonymousId(event)
  if (user === undefined && device === undefined) throw new Error('userId or anonymousId is missing')
  const duplicate = duplicateId(event)
  const allGroups = { ...traitGroups(userTraits(event), configNames(config['groupTraits'])), ...(groups as JsonObject) }
  return {
    ...present({
      user_id: user,
      device_id: device,
      event_type,
      time: eventTime(event),
      insert_id: duplicate === undefined ? undefined : duplicate + suffix,
      event_id: suffix === '' ? eventId(event, config) : undefined,
      session_id: sessionId(event),
    }),
    event_properties: event_properties ?? {},
    user_properties: user_properties ?? {},
    ...(Object.keys(allGroups).length > 0 ? { groups: allGroups } : {}),
    ...own,
    ...deviceAndPlace(event),
  }
}

/** A counter of the customer's own; Amplitude takes whole numbers. */
function eventId(event: StoredEvent, { eventId: template }: JsonObject): number | undefined {
  const value = typeof template === 'string' ? fill(template, withTraits(event)) : undefined
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined
}

/** Ours is the second at which the session began, Amplitude's the millisecond. */
function sessionId({ context }: StoredEvent): number | undefined {
  const given = isJsonObject(context) ? context['sessionId'] : undefined
  const seconds = typeof given === 'string' && /^\d{1,16}$/.test(given) ? Number(given) : given
  if (typeof seconds !== 'number' || !Number.isSafeInteger(seconds) || seconds <= 0) return undefined
  return seconds < FIRST_MILLISECONDS ? seconds * 1_000 : seconds
}

/** As seconds the year 5138, as milliseconds 1973: what is smaller counts seconds. */
const FIRST_MILLISECONDS = 100_000_000_000
