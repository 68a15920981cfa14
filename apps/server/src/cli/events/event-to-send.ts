import {
  EVENT_TYPES,
  type EventType,
  isEventType,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  setMember,
} from '@millrace/protocol'
import { usageError } from '../command-io.ts'

/** The options that describe the events and their source. */
export interface EventsToSend {
  readonly path: string
  readonly body: JsonObject
  readonly events: readonly JsonObject[]
}

export interface EventOptions {
  readonly user?: string
  readonly anonymous?: string
  /** `name=value` */
  readonly property?: readonly string[]
}

/** The member that the name on the command line sets, by type. */
const NAME_MEMBER: Partial<Record<EventType, string>> = {
  track: 'event',
  page: 'name',
  screen: 'name',
  group: 'groupId',
  alias: 'previousId',
}

/**
 * The event of the command line. Every event gets a messageId, for tracing, and an anonymousId if it has no user.
 */
export function eventOfOptions(
  type: string,
  name: string | undefined,
  options: EventOptions,
  newId: () => string,
): EventsToSend {
  const eventType = checkedType(type)
  const event: JsonObject = {}
  if (options.user !== undefined) event['userId'] = options.user
  if (options.anonymous !== undefined) event['anonymousId'] = options.anonymous
  if (options.user === undefined && options.anonymous === undefined) event['anonymousId'] = newId()
  if (name !== undefined) {
    const member = NAME_MEMBER[eventType]
    if (member === undefined) throw usageError(`${eventType} takes no name; remove "${name}".`)
    event[member] = name
  }
  const properties: JsonObject = {}
  for (const property of options.property ?? []) {
    const [key, value] = parseProperty(property)
    setMember(properties, key, value)
  }
  if (Object.keys(properties).length > 0) {
    event[eventType === 'identify' || eventType === 'group' ? 'traits' : 'properties'] = properties
  }
  return single(eventType, event, newId)
}

/** Events in the given form: one object, a list, or the body of a batch. */
export function eventsOfMessage(
  text: string,
  type: string | undefined,
  newId: () => string,
  isBackfill = false,
): EventsToSend {
  let message: JsonValue
  try {
    message = JSON.parse(text)
  } catch (error) {
    throw usageError(`The message is not JSON: ${(error as Error).message}`)
  }
  const list = Array.isArray(message) ? message : isJsonObject(message) ? message['batch'] : undefined
  if (Array.isArray(list)) {
    const envelope = isJsonObject(message) ? message : {}
    const events = list.map((each) => (isJsonObject(each) ? withMessageId(each, newId) : each))
    // A value that is not an event is sent unchanged: the server reports the error.
    const path = isBackfill ? '/v1/backfill' : '/v1/batch'
    return { path, body: { ...envelope, batch: events }, events: events.filter(isJsonObject) }
  }
  if (!isJsonObject(message)) throw usageError('The message must be an event or a list of events.')
  const given = type ?? message['type']
  if (typeof given !== 'string')
    throw usageError('The message has no type.', `Put one before it: ${EVENT_TYPES.join(', ')}.`)
  const { path, body, events } = single(checkedType(given), message, newId)
  return isBackfill ? { path: '/v1/backfill', body: { batch: [...events] }, events } : { path, body, events }
}

function single(type: EventType, event: JsonObject, newId: () => string): EventsToSend {
  const body = withMessageId(event, newId)
  return { path: `/v1/${type}`, body, events: [{ ...body, type }] }
}

function withMessageId(event: JsonObject, newId: () => string): JsonObject {
  const { messageId } = event
  return typeof messageId === 'string' && messageId.trim() !== '' ? event : { ...event, messageId: newId() }
}

function checkedType(type: string): EventType {
  if (isEventType(type)) return type
  throw usageError(`"${type}" is not an event type.`, `Event types: ${EVENT_TYPES.join(', ')}.`)
}

/** A value is parsed as JSON if possible, else it is text: `price=18.5`, `hall=B`, `tags=["matinee"]`. */
function parseProperty(property: string): [key: string, value: JsonValue] {
  const at = property.indexOf('=')
  if (at < 1) throw usageError(`--property "${property}" is not of the form name=value.`)
  const key = property.slice(0, at)
  const value = property.slice(at + 1)
  try {
    return [key, JSON.parse(value)]
  } catch {
    return [key, value]
  }
}
