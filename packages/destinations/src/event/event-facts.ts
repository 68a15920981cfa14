import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  ownMember,
  parseTime,
  type StoredEvent,
  setMember,
} from '@millrace/protocol'

/*
 * What several types of destination ask of an event, so that the same event means the same everywhere.
 */

/** Of an identify its own traits, else those of the context; of any other type those of the context. */
export function userTraits(event: StoredEvent): JsonObject {
  const { traits } = event
  const own = event.type === 'identify' && isJsonObject(traits) ? traits : undefined
  return own ?? contextObject(event, 'traits')
}

/** What a group call says of the group itself. */
export function groupTraits({ traits }: StoredEvent): JsonObject {
  return isJsonObject(traits) ? traits : {}
}

/** The event as placeholders see it: where it has no traits of its own, those of the context. */
export function withTraits(event: StoredEvent): JsonObject {
  const { traits, context } = event
  if (isJsonObject(traits) || !isJsonObject(context) || !isJsonObject(context['traits'])) return event
  return { ...event, traits: context['traits'] }
}

/** Milliseconds since 1970 of `timestamp`, else of `originalTimestamp`. */
export function eventTime({ timestamp, originalTimestamp }: StoredEvent): number | undefined {
  return parseTime(timestamp) ?? parseTime(originalTimestamp)
}

export function userId(event: StoredEvent): string | undefined {
  return idText(event['userId'])
}

export function anonymousId(event: StoredEvent): string | undefined {
  return idText(event['anonymousId'])
}

/** By which a service knows that an event comes again. */
export function duplicateId(event: StoredEvent): string | undefined {
  return idText(event['messageId'])
}

/** @throws Error without one: then nobody knows which group is meant. */
export function groupId(event: StoredEvent): string {
  const id = idText(event['groupId'])
  if (id === undefined) throw new Error('groupId is missing')
  return id
}

/** The id that an alias replaces. @throws Error without one. */
export function previousId(event: StoredEvent): string {
  const id = idText(event['previousId'])
  if (id === undefined) throw new Error('previousId is missing')
  return id
}

/** Of `context.externalId`, the id of a type. */
export function externalId(event: StoredEvent, type: string): string | undefined {
  const { context } = event
  const ids = isJsonObject(context) ? context['externalId'] : undefined
  const found = Array.isArray(ids) ? ids.find((each) => isJsonObject(each) && each['type'] === type) : undefined
  return isJsonObject(found) ? idText(found['id']) : undefined
}

/** The groups of a user: each listed trait is a kind of group, its value the id or the list of ids. */
export function traitGroups(traits: JsonObject, names: readonly string[]): Record<string, string | string[]> {
  const groups: Record<string, string | string[]> = {}
  for (const name of names) {
    const value = ownMember(traits, name)
    const ids = Array.isArray(value) ? value.flatMap((each) => idText(each) ?? []) : idText(value)
    if (ids !== undefined && ids.length > 0) setMember(groups, name, ids)
  }
  return groups
}

/** The name of a track. @throws Error without one. */
export function trackName({ event }: StoredEvent): string {
  if (typeof event !== 'string' || event === '') throw new Error('event is missing')
  return event
}

export function eventProperties({ properties }: StoredEvent): JsonObject {
  return isJsonObject(properties) ? properties : {}
}

/** An object of the context, such as `device`; empty if there is none. */
export function contextObject({ context }: StoredEvent, name: string): JsonObject {
  const found = isJsonObject(context) ? context[name] : undefined
  return isJsonObject(found) ? found : {}
}

/** The address of the device, as the client gave it or as it was seen. */
export function deviceAddress(event: StoredEvent): string | undefined {
  const { context } = event
  return (isJsonObject(context) ? idText(context['ip']) : undefined) ?? idText(event['request_ip'])
}

/** Members that are plain values, in their order: what is missing, empty, an object or a list is left out. */
export function present(members: Record<string, JsonValue | undefined>): JsonObject {
  const kept: JsonObject = {}
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined && value !== '' && typeof value !== 'object') kept[name] = value
  }
  return kept
}

function idText(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}
