import type { JsonObject, StoredEvent } from '@millrace/protocol'
import { anonymousId, externalId, userId } from '../../event/event-facts.ts'

/** Label of the aliases that anonymous users have. */
export const ANONYMOUS_LABEL = 'anonymous_id'

/**
 * The user of an object of `/users/track`. Braze creates no profile for an alias unless `_update_existing_only` is false.
 *
 * @throws Error without an id.
 */
export function brazeUser(event: StoredEvent, { updateExistingOnly }: JsonObject): JsonObject {
  const onlyExisting = updateExistingOnly === true
  const user = userId(event)
  if (user !== undefined) return { external_id: user, ...(onlyExisting ? { _update_existing_only: true } : {}) }
  const brazeId = externalId(event, 'brazeId')
  if (brazeId !== undefined) return { braze_id: brazeId }
  const alias = anonymousAlias(event)
  if (alias === undefined) throw new Error('userId or anonymousId is missing')
  return { user_alias: alias, _update_existing_only: onlyExisting }
}

export function anonymousAlias(event: StoredEvent): JsonObject | undefined {
  const id = anonymousId(event)
  return id === undefined ? undefined : { alias_name: id, alias_label: ANONYMOUS_LABEL }
}
