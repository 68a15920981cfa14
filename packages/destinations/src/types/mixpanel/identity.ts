import type { JsonObject, StoredEvent } from '@millrace/protocol'
import { anonymousId, previousId, userId } from '../../event/event-facts.ts'

/*
 * How a project of Mixpanel joins the ids of one user. With the simplified merge it does so by `$device_id` and `$user_id`
 * of events; with the original one by events of their own.
 *
 * @see https://docs.mixpanel.com/docs/tracking-methods/id-management/identifying-users-original
 */

export function hasOriginalMerge({ identityMerge }: JsonObject): boolean {
  return identityMerge === 'original'
}

/** As Mixpanel makes it itself; empty where there is no user, or it would invent one for this server. */
export function distinctId(event: StoredEvent, config: JsonObject): string {
  const device = anonymousId(event)
  const anonymous = hasOriginalMerge(config) ? device : device && `$device:${device}`
  return userId(event) ?? anonymous ?? ''
}

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

/** That an anonymous user is a known one; undefined where Mixpanel would not merge them. */
export function identification(event: StoredEvent, token: string): JsonObject | undefined {
  const user = userId(event)
  const device = anonymousId(event)
  if (user === undefined || device === undefined || !UUID_V4.test(device)) return undefined
  return { event: '$identify', properties: { $identified_id: user, $anon_id: device, token } }
}

/** A further id of a user. @throws Error without both ids. */
export function alias(event: StoredEvent, token: string): JsonObject {
  const { former, current } = aliasedIds(event)
  return { event: '$create_alias', properties: { distinct_id: former, alias: current, token } }
}

/** Two users that become one for ever. @throws Error without both ids. */
export function merge(event: StoredEvent, token: string): JsonObject {
  const { former, current } = aliasedIds(event)
  return { event: '$merge', properties: { $distinct_ids: [former, current], token } }
}

function aliasedIds(event: StoredEvent): { former: string; current: string } {
  const current = userId(event)
  if (current === undefined) throw new Error('userId is missing')
  return { former: previousId(event), current }
}
