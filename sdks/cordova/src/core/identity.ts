import type { StateChanges } from './bridge.ts'
import type { Corrected, ExternalIds } from './calls/arguments.ts'
import type { EventCall } from './calls/call.ts'
import { parsedObject } from './text/parsed-json.ts'
import type { Json, JsonObject } from './text/plain-json.ts'
import { MAX_CARRIED_BYTES, utf8Length } from './text/utf8.ts'

/** Who the events are of. @see contracts/cordova-sdk.md §7 */
export interface Identity {
  readonly anonymousId: string
  readonly userId?: string | undefined
  readonly traits: JsonObject
  readonly externalIds: ExternalIds
  readonly deviceToken?: string | undefined
}

export const NO_IDENTITY: Identity = { anonymousId: '', traits: {}, externalIds: {} }

/** With some members replaced. */
export function changed(identity: Identity, members: Partial<Identity>): Identity {
  return { ...identity, ...members }
}

/** The identity after an event call; the event itself already carries it. @param warn is told what is left out. */
export function identityAfter(
  before: Identity,
  { kind, name: userId, payload, callOptions }: EventCall,
  warn: Corrected,
): Identity {
  if (kind === 'alias') return changed(before, { userId })
  if (kind !== 'identify') return before
  const isSame = before.userId === userId
  const { traits: known, externalIds } = isSame || before.userId === undefined ? before : NO_IDENTITY
  const traits = merge(known, payload)
  // A null removes a trait of a user who is known.
  if (isSame) for (const key of Object.keys(payload)) if (payload[key] === null) delete traits[key]
  return changed(before, { userId, traits, externalIds: mergeIds(externalIds, callOptions.externalIds, warn) })
}

/** `traits` of the context: the stored ones and the ids; a trait `id` of the host stays. */
export function contextTraits({ traits, anonymousId, userId }: Identity): JsonObject {
  return merge<Json>(
    traits,
    userId === undefined ? { anonymousId } : { anonymousId, userId, id: traits['id'] || userId },
  )
}

/** A member of `context`, sorted by type; empty without ids, and when they are too long for every event to carry them. */
export function externalIdText(ids: ExternalIds): string {
  const list = Object.keys(ids)
    .sort()
    .map((type) => ({ type, id: ids[type]! }))
  const text = JSON.stringify(list)
  return list.length && utf8Length(text) <= MAX_CARRIED_BYTES ? `,"externalId":${text}` : ''
}

/** The ids of a call over those there are. If all together are too long, those of the call are left out. */
export function mergeIds(base: ExternalIds, over: ExternalIds | undefined, warn: Corrected): ExternalIds {
  const all = merge(base, over || {})
  if (!over || externalIdText(all)) return all
  warn('externalIds was ignored')
  return base
}

/** @param texts as the store holds them; null where it holds nothing. */
export function identityFrom({ anonymousId, userId, deviceToken, traits, externalIds }: StateChanges): Identity {
  return {
    anonymousId: anonymousId || '',
    userId: userId || undefined,
    traits: parsedObject(traits),
    externalIds: parsedObject(externalIds),
    deviceToken: deviceToken || undefined,
  }
}

/** As the store holds it; null where it holds nothing. */
export function identityTexts({ anonymousId, userId, traits, externalIds, deviceToken }: Identity): StateChanges {
  return {
    anonymousId: anonymousId || null,
    userId: userId || null,
    traits: textOf(traits),
    externalIds: textOf(externalIds),
    deviceToken: deviceToken || null,
  }
}

/** What the store has to learn when one becomes the other. */
export function identityChanges(before: Identity, after: Identity): Record<string, string | null> {
  const changes: Record<string, string | null> = {}
  if (before === after) return changes
  const old = identityTexts(before)
  for (const [key, text] of Object.entries(identityTexts(after))) if (old[key] !== text) changes[key] = text
  return changes
}

export function merge<Value extends Json>(
  base: Readonly<Record<string, Value>>,
  over: Readonly<Record<string, Value>>,
): Record<string, Value> {
  const merged: Record<string, Value> = Object.create(null)
  return Object.assign(merged, base, over)
}

function textOf(members: object): string | null {
  const text = JSON.stringify(members)
  return text === '{}' ? null : text
}
