import type { ExternalIds } from './arguments.ts'
import type { State, StateChanges } from './bridge.ts'
import type { EventCall } from './call.ts'
import { parsedObject } from './parsed-json.ts'
import type { Json, JsonObject } from './plain-json.ts'

/** Who the events are of. @see contracts/cordova-sdk.md §7 */
export interface Identity {
  readonly anonymousId: string
  readonly userId?: string
  readonly traits: JsonObject
  readonly externalIds: ExternalIds
  readonly deviceToken?: string
}

export const NOBODY: Identity = { anonymousId: '', traits: {}, externalIds: {} }

/** The identity after an event call; the event itself already carries it. */
export function identityAfter(before: Identity, call: EventCall): Identity {
  if (call.kind === 'alias') return { ...before, userId: call.newId }
  if (call.kind !== 'identify') return before
  const given = call.options.externalIds ?? {}
  if (before.userId !== undefined && before.userId !== call.userId) {
    return { ...before, userId: call.userId, traits: call.traits, externalIds: given }
  }
  const merged = merge(before.traits, call.traits)
  return {
    ...before,
    userId: call.userId,
    traits: before.userId === undefined ? merged : withoutNulls(merged, call.traits),
    externalIds: merge(before.externalIds, given),
  }
}

/** @param anonymousId the new one when reset(true) renews; '' when none may be made. */
export function identityAfterReset(before: Identity, anonymousId: string | undefined): Identity {
  const { deviceToken } = before
  if (anonymousId !== undefined) return { ...NOBODY, anonymousId }
  return { ...NOBODY, anonymousId: before.anonymousId, ...(deviceToken !== undefined && { deviceToken }) }
}

/** `traits` of the context: the stored ones and the ids; a trait `id` of the host stays. */
export function contextTraits({ traits, anonymousId, userId }: Identity): JsonObject {
  const ids = userId === undefined ? { anonymousId } : { anonymousId, userId, id: traits['id'] ?? userId }
  return merge(traits, ids)
}

/** As `context.externalId` carries them, sorted by type. */
export function externalIdList(ids: ExternalIds): readonly JsonObject[] {
  return Object.keys(ids)
    .sort()
    .map((type) => ({ type, id: ids[type]! }))
}

export function identityFrom(state: State): Identity {
  const { anonymousId = '', userId, deviceToken } = state
  return {
    anonymousId,
    ...(userId !== undefined && { userId }),
    traits: parsedObject(state['traits']),
    externalIds: parsedObject(state['externalIds']),
    ...(deviceToken !== undefined && { deviceToken }),
  }
}

/** What the store has to learn when one becomes the other. */
export function identityChanges(before: Identity, after: Identity): StateChanges {
  const changes: Record<string, string | null> = {}
  const texts = (identity: Identity): Record<string, string | null> => ({
    anonymousId: identity.anonymousId || null,
    userId: identity.userId ?? null,
    traits: textOf(identity.traits),
    externalIds: textOf(identity.externalIds),
    deviceToken: identity.deviceToken ?? null,
  })
  if (before === after) return changes
  const old = texts(before)
  const now = texts(after)
  for (const key of Object.keys(now)) if (old[key] !== now[key]) changes[key] = now[key]!
  return changes
}

/** Every key of the identity removed. */
export const ERASED: StateChanges = {
  anonymousId: null,
  userId: null,
  traits: null,
  externalIds: null,
  deviceToken: null,
}

export function merge<Value extends Json>(
  base: Readonly<Record<string, Value>>,
  over: Readonly<Record<string, Value>>,
): Readonly<Record<string, Value>> {
  const merged: Record<string, Value> = Object.create(null)
  for (const each of [base, over]) for (const key of Object.keys(each)) merged[key] = each[key]!
  return merged
}

function withoutNulls(merged: JsonObject, given: JsonObject): JsonObject {
  const rest: Record<string, Json> = Object.create(null)
  for (const key of Object.keys(merged)) if (given[key] !== null) rest[key] = merged[key]!
  return rest
}

function textOf(members: object): string | null {
  return Object.keys(members).length === 0 ? null : JSON.stringify(members)
}
