import type { JsonObject, StoredEvent } from '@millrace/protocol'
import { configText } from '../../config/config-text.ts'
import { anonymousId, groupId, groupTraits } from '../../event/event-facts.ts'

/**
 * A group call as an object, related to the person of the call. A visitor is related by the anonymous id: the relationship passes
 * to the person once Customer.io knows whom it is.
 *
 * @throws Error without a groupId.
 */
export function objectOperation(event: StoredEvent, person: JsonObject | undefined, config: JsonObject): JsonObject {
  const identifiers = { object_type_id: configText(config, 'objectTypeId') ?? '1', object_id: groupId(event) }
  const common = { type: 'object', identifiers, attributes: groupTraits(event) }
  if (person !== undefined) return { ...common, action: 'identify', cio_relationships: [{ identifiers: person }] }
  const anonymous = anonymousId(event)
  if (anonymous === undefined) return { ...common, action: 'identify' }
  const cio_relationships = [{ identifiers: { anonymous_id: anonymous } }]
  return { ...common, action: 'identify_anonymous', cio_relationships }
}
