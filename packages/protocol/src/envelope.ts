import { isJsonObject, type JsonObject, type JsonValue, ownMember, setMember } from './json.ts'

/** Members of a batch envelope that apply to each of its events. */
export interface EnvelopeMembers {
  readonly context: JsonObject | undefined
  readonly integrations: JsonObject | undefined
}

/** @returns undefined if neither is an object; the events then stay unchanged. */
export function envelopeMembers(envelope: JsonObject): EnvelopeMembers | undefined {
  const context = objectOf(envelope['context'])
  const integrations = objectOf(envelope['integrations'])
  return context === undefined && integrations === undefined ? undefined : { context, integrations }
}

/**
 * Merges the envelope's members into an event, in place. The event's own values win: `context` is merged object by object,
 * arrays are not merged, `integrations` are merged by name. Objects that the event lacks are shared by all events of the batch;
 * only objects that both have are extended.
 *
 * @see contracts/ingest.md §4
 */
export function mergeEnvelope(event: JsonObject, { context, integrations }: EnvelopeMembers): void {
  if (context !== undefined) mergeMember(event, 'context', context, mergeObjects)
  if (integrations !== undefined) mergeMember(event, 'integrations', integrations, addMissing)
}

/** Number of members that `mergeEnvelope` adds to the event's objects: its memory cost, without shared objects. */
export function mergedMembers(event: JsonObject, { context, integrations }: EnvelopeMembers): number {
  const ownContext = context && objectOf(event['context'])
  const ownIntegrations = integrations && objectOf(event['integrations'])
  return (
    (ownContext === undefined ? 0 : membersToAdd(ownContext, context!)) +
    (ownIntegrations === undefined ? 0 : Object.keys(integrations!).length)
  )
}

function mergeMember(
  event: JsonObject,
  name: 'context' | 'integrations',
  given: JsonObject,
  merge: (own: JsonObject, given: JsonObject) => void,
): void {
  const own = event[name]
  if (own === undefined) event[name] = given
  else if (isJsonObject(own)) merge(own, given)
}

function addMissing(own: JsonObject, given: JsonObject): void {
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(own, name)) setMember(own, name, ownMember(given, name)!)
  }
}

function mergeObjects(own: JsonObject, given: JsonObject): void {
  for (const name of Object.keys(given)) {
    const value = ownMember(given, name)!
    if (!Object.hasOwn(own, name)) {
      setMember(own, name, value)
      continue
    }
    const ownValue = ownMember(own, name)
    if (isJsonObject(ownValue) && isJsonObject(value)) mergeObjects(ownValue, value)
  }
}

function membersToAdd(own: JsonObject, given: JsonObject): number {
  const names = Object.keys(given)
  let count = names.length
  for (const name of names) {
    const [ownValue, value] = [ownMember(own, name), ownMember(given, name)]
    if (isJsonObject(ownValue) && isJsonObject(value)) count += membersToAdd(ownValue, value)
  }
  return count
}

function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined
}
