import type { JsonObject, JsonValue, StoredEvent } from '@millrace/protocol'
import { anonymousId, eventProperties, userId, userTraits, withTraits } from '../event/event-facts.ts'

/**
 * The event as placeholders see it: its members, then its properties and the traits of its user without a path before them,
 * and the name of its user as `{{name}}`.
 */
export function placeholderValues(event: StoredEvent): JsonObject {
  const name = userName(event)
  const flat = { ...userTraits(event), ...eventProperties(event), ...withTraits(event) }
  return name === undefined ? flat : { ...flat, name }
}

/** By the first of these that the event has: a name, a user name, an address, an id. */
export function userName(event: StoredEvent): string | undefined {
  const { name, firstName, lastName, username, email } = userTraits(event)
  const fullName = [firstName, lastName].filter(isText).join(' ')
  const named = [name, fullName, username, eventProperties(event)['email'], email].find(isText)
  if (named !== undefined) return named
  const user = userId(event)
  if (user !== undefined) return `User ${user}`
  const anonymous = anonymousId(event)
  return anonymous === undefined ? undefined : `Anonymous user ${anonymous}`
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value.trim() !== ''
}
