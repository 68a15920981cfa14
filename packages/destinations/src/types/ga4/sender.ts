import { hash } from 'node:crypto'
import type { JsonObject, StoredEvent } from '@millrace/protocol'
import { anonymousId, externalId, userId } from '../../event/event-facts.ts'

/** Who did it, for a web stream. */
export function webSender(event: StoredEvent): JsonObject {
  const user = userId(event)
  const id = externalId(event, 'ga4ClientId') ?? anonymousId(event) ?? (user && clientIdOf(user))
  if (id === undefined) {
    throw new Error('GA4 needs a client: the event has no external id ga4ClientId, no anonymousId and no userId')
  }
  return { client_id: id }
}

/** The installation of the app that did it, for an app stream. */
export function appSender(event: StoredEvent): JsonObject {
  const id = externalId(event, 'ga4AppInstanceId')
  if (id === undefined) throw new Error('context.externalId has no id of type ga4AppInstanceId')
  return { app_instance_id: id }
}

/**
 * A client id for a user without a browser, always the same: two 32-bit numbers of the SHA-256 of the user id, in the form
 * that Google recommends.
 */
function clientIdOf(userId: string): string {
  const digest = hash('sha256', userId, 'buffer')
  return `${digest.readUInt32BE(0)}.${digest.readUInt32BE(4)}`
}
