import { eventName, type JsonObject, type JsonValue, parseTime, type StoredEvent } from '@millrace/protocol'
import { ulidOf } from '../../event/derived-ids.ts'
import {
  anonymousId,
  contextObject,
  duplicateId,
  eventProperties,
  eventTime,
  previousId,
  trackName,
  userId,
  userTraits,
} from '../../event/event-facts.ts'

/*
 * What Customer.io's Track API v2 does to people. Times are in seconds.
 *
 * @see https://docs.customer.io/integrations/api/track/
 */

/** The person of an event, by the id that the configuration names; undefined for an anonymous one. */
export function identifiersOf(event: StoredEvent, { identifyBy }: JsonObject): JsonObject | undefined {
  const { email } = userTraits(event)
  if (identifyBy === 'email' && typeof email === 'string' && email !== '') return { email }
  const id = userId(event)
  return id === undefined ? undefined : { id }
}

/** With the anonymous id, by which Customer.io finds the person's earlier anonymous events. */
export function identification(event: StoredEvent, identifiers: JsonObject, config: JsonObject): JsonObject {
  const time = eventTime(event)
  const anonymous = anonymousId(event)
  return {
    type: 'person',
    identifiers,
    action: 'identify',
    ...(time === undefined ? {} : { timestamp: seconds(time) }),
    attributes: {
      ...attributesOf(userTraits(event), identifiers),
      ...(anonymous === undefined ? {} : { anonymous_id: anonymous }),
      ...(config['updateExistingOnly'] === true ? { _update: true } : {}),
    },
  }
}

/** A track, page or screen of a person. */
export function activity(event: StoredEvent, identifiers: JsonObject): JsonObject {
  const { name, ...rest } = described(event)
  return {
    type: 'person',
    identifiers,
    action: event.type === 'track' ? 'event' : event.type,
    name: name!,
    ...rest,
    attributes: attributesOfActivity(event),
  }
}

/** A track, page or screen of a visitor without an account. */
export function anonymousActivity(event: StoredEvent, anonymous: string): JsonObject {
  return {
    anonymous_id: anonymous,
    ...described(event),
    type: event.type === 'track' ? 'event' : event.type,
    data: attributesOfActivity(event),
  }
}

/** @throws Error without both ids. */
export function merge(event: StoredEvent): JsonObject {
  const id = userId(event)
  if (id === undefined) throw new Error('userId is missing')
  return { type: 'person', action: 'merge', primary: { id }, secondary: { id: previousId(event) } }
}

/** Name, time and id for duplicates. A view without a name is called by its address. @throws Error without a name. */
function described(event: StoredEvent): JsonObject {
  const properties = eventProperties(event)
  const url = properties['url'] ?? contextObject(event, 'page')['url']
  const name = event.type === 'track' ? trackName(event) : eventName(event) || url
  if (typeof name !== 'string' || name === '') throw new Error('name is missing, and the event has no address')
  const time = eventTime(event)
  const id = duplicateId(event)
  return {
    name,
    ...(time === undefined ? {} : { timestamp: seconds(time) }),
    // A ULID holds the time: without one the id would be another for each delivery.
    ...(id === undefined || time === undefined ? {} : { id: ulidOf(id, time) }),
  }
}

/** Of a page also what the context says about it. */
function attributesOfActivity(event: StoredEvent): JsonObject {
  const properties = eventProperties(event)
  return event.type === 'page' ? { ...contextObject(event, 'page'), ...properties } : properties
}

/** Traits as attributes. Customer.io knows the time of a sign-up as `created_at`, in seconds. */
function attributesOf(traits: JsonObject, identifiers: JsonObject): JsonObject {
  const { createdAt, ...attributes } = traits
  if (identifiers['email'] !== undefined) delete attributes['email']
  const created = attributes['created_at'] ?? createdAt
  if (created === undefined) return attributes
  return { ...attributes, created_at: secondsOf(created) }
}

function secondsOf(time: JsonValue): JsonValue {
  const ms = typeof time === 'number' ? undefined : parseTime(time)
  if (ms !== undefined) return seconds(ms)
  // A number over the year 5138 counts milliseconds.
  return typeof time === 'number' && time > 1e11 ? seconds(time) : time
}

export function seconds(ms: number): number {
  return Math.floor(ms / 1_000)
}
