import type { ExternalIds } from './arguments.ts'
import type { State, StateChanges } from './bridge.ts'
import type { EventCall } from './call.ts'
import { parsedObject } from './parsed-json.ts'
import type { Json, JsonObject } from './plain-json.ts'

/** Who the events are of. @see contracts/cordova-sdk.md §7 */
export interface Identity {
  readonly anonymousId: string
  readonly userId?: string | undefined
  readonly traits: JsonObject
  readonly externalIds: ExternalIds
  readonly deviceToken?: string | undefined
}

export const NOBODY: Identity = { anonymousId: '', traits: {}, externalIds: {} }

/** With some members replaced. */
export function changed(identity: Identity, members: Partial<Identity>): Identity {
  return { ...identity, ...members }
}

/** The identity after an event call; the event itself already carries it. */
export function identityAfter(before: Identity, { kind, name: userId, payload, callOptions }: EventCall): Identity {
  if (kind === 'alias') return changed(before, { userId })
  if (kind !== 'identify') return before
  const given = callOptions.externalIds || {}
  const isSame = before.userId === userId
  if (before.userId !== undefined && !isSame) return changed(before, { userId, traits: payload, externalIds: given })
  const traits = merge(before.traits, payload)
  // A null removes a trait of a user who is known.
  if (isSame) for (const key of Object.keys(payload)) if (payload[key] === null) delete traits[key]
  return changed(before, { userId, traits, externalIds: merge(before.externalIds, given) })
}

/** `traits` of the context: the stored ones and the ids; a trait `id` of the host stays. */
export function contextTraits({ traits, anonymousId, userId }: Identity): JsonObject {
  return merge<Json>(
    traits,
    userId === undefined ? { anonymousId } : { anonymousId, userId, id: traits['id'] || userId },
  )
}

/** As `context.externalId` carries them, sorted by type. */
export function externalIdList(ids: ExternalIds): readonly JsonObject[] {
  return Object.keys(ids)
    .sort()
    .map((type) => ({ type, id: ids[type]! }))
}

export function identityFrom({ anonymousId = '', userId, deviceToken, traits, externalIds }: State): Identity {
  return { anonymousId, userId, traits: parsedObject(traits), externalIds: parsedObject(externalIds), deviceToken }
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
