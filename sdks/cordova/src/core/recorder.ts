import type { State, StateChanges } from './bridge.ts'
import { type CallOptions, integrationsOf } from './calls/arguments.ts'
import type { EventCall, StateCall } from './calls/call.ts'
import { newContext } from './context.ts'
import type { Host } from './host.ts'
import {
  changed,
  type Identity,
  identityAfter,
  identityChanges,
  identityFrom,
  identityTexts,
  merge,
  mergeIds,
  NO_IDENTITY,
} from './identity.ts'
import { BACKGROUNDED } from './lifecycle.ts'
import { type Session, sessionAt, sessionFrom } from './session.ts'
import type { Configuration } from './source/configuration.ts'
import { picked } from './state-changes.ts'
import { eventTail, eventText, spareBytes } from './text/event-text.ts'
import type { Json, JsonObject } from './text/plain-json.ts'
import { utf8Length } from './text/utf8.ts'

export interface Recorded {
  /** Absent when the event is too large. */
  readonly body?: string
  readonly messageId: string
  readonly changes: StateChanges
}

export type Recorder = ReturnType<typeof newRecorder>

/**
 * Makes rows of calls: who, in which session, in which context.
 *
 * @param initial the options of initialize: their external ids become part of the identity.
 * @param warn is told what had to be left out.
 */
export function newRecorder(
  host: Host,
  { autoSessionTracking, sessionTimeout }: Configuration,
  initial: CallOptions,
  warn: (what: string) => void,
) {
  const channel = host.platform === 'browser' ? 'web' : 'mobile'
  /** 0: no session members. */
  const sessionTimeoutMs = autoSessionTracking ? sessionTimeout * 1000 : 0
  const { nextId } = host
  const context = newContext(warn)
  let identity = NO_IDENTITY
  let session: Session | undefined

  const become = (next: Identity): Record<string, string | null> => {
    const changes = identityChanges(identity, next)
    identity = next
    return changes
  }

  /** What is particular to the kind of a call. */
  const members = ({ kind, name, payload }: EventCall, after: Identity): object => {
    if (kind === 'identify') return { traits: after.traits }
    if (kind === 'group') return { groupId: name, traits: payload }
    if (kind === 'alias') return { previousId: identity.userId || identity.anonymousId }
    if (kind === 'track') return { event: name, properties: payload }
    return { event: name, name, properties: 'name' in payload ? payload : merge(payload, { name }) }
  }

  const tailOf = (call: EventCall, after: Identity, its: Session | undefined, isFirst: boolean): string => {
    const { anonymousId, userId } = after
    const { kind, callOptions } = call
    return eventTail(
      {
        ...{ type: kind, channel, anonymousId, userId },
        ...members(call, after),
        integrations: integrationsOf(callOptions, initial.integrations),
      },
      context.text(
        // What an identify carries as its own traits does not travel twice.
        kind === 'identify' ? changed(after, { traits: picked(after.traits, ['id']) }) : after,
        its && { sessionId: its.id, sessionStart: isFirst || undefined },
        kind === 'identify' ? undefined : callOptions.externalIds,
      ),
    )
  }

  const forgetUser = () => {
    const { anonymousId, deviceToken } = identity
    return become(changed(NO_IDENTITY, { anonymousId, deviceToken }))
  }

  return {
    context,

    load(state: State) {
      identity = identityFrom(state)
      session = sessionFrom(state['session'])
    },

    /** What another tab has changed; other keys are left alone. */
    adopt(changes: StateChanges) {
      identity = identityFrom({ ...identityTexts(identity), ...changes })
      session = sessionFrom(changes['session']) || session
    },

    /** Tracking is allowed: takes over the external ids of initialize, and makes an anonymousId if none is known. */
    begin: (): StateChanges =>
      become(
        changed(identity, {
          anonymousId: identity.anonymousId || nextId(),
          externalIds: mergeIds(identity.externalIds, initial.externalIds, warn),
        }),
      ),

    /**
     * Of an identify that is too large the largest traits are left out: the user is another one from here on, whatever the size.
     */
    record(call: EventCall): Recorded {
      const { at, name, origin, kind } = call
      let after = identityAfter(identity, call, warn)
      // Leaving the app is no activity.
      const isActive = sessionTimeoutMs && !(origin && name === BACKGROUNDED)
      const next = isActive ? sessionAt(session, at, sessionTimeoutMs) : session
      const isFirst = next !== undefined && (!session || next.id !== session.id)
      const messageId = nextId()
      const text = () => eventText(messageId, at, tailOf(call, after, sessionTimeoutMs ? next : undefined, isFirst))
      let body = text()
      if (spareBytes(body) < 0) {
        if (kind !== 'identify') return { messageId, changes: {} }
        const { traits } = after
        after = changed(after, { traits: {} })
        const kept = smallestTraits(traits, spareBytes(text()))
        if (!kept) return { messageId, changes: forgetUser() }
        warn('identify: traits were removed')
        after = changed(after, { traits: kept })
        body = text()
      }
      const changes = become(after)
      if (isActive) changes['session'] = JSON.stringify(next)
      if (origin?.marker) changes['marker'] = origin.marker
      session = next
      return { body, messageId, changes }
    },

    /** @param mayMakeIds false while disabled: reset(true) then erases and makes nothing. */
    applied(call: StateCall, mayMakeIds: boolean): StateChanges {
      if (call.kind === 'reset') {
        const changes = call.renews
          ? become(changed(NO_IDENTITY, { anonymousId: mayMakeIds ? nextId() : '' }))
          : forgetUser()
        if (session) {
          session = { ...session, isOver: true }
          changes['session'] = JSON.stringify(session)
        }
        return changes
      }
      const { kind, value } = call
      if (kind !== 'advertisingId') return become(changed(identity, { [kind]: value }))
      context.learn({ advertising: value ? { id: value, enabled: true } : {} })
      return {}
    },

    forgetToken() {
      identity = changed(identity, { deviceToken: undefined })
    },

    /** Of an Application Backgrounded event as it would be now. It belongs to the latest event's session and starts none. */
    tail(): string {
      const call: EventCall = { kind: 'track', name: BACKGROUNDED, payload: {}, at: 0, callOptions: {} }
      return tailOf(call, identity, sessionTimeoutMs ? session : undefined, false)
    },
  }
}

/** As many as fit, smallest first. @returns undefined when there is no room at all. */
function smallestTraits(traits: JsonObject, room: number): JsonObject | undefined {
  const sizeOf = (name: string) => utf8Length(JSON.stringify({ [name]: traits[name] }))
  const kept: Record<string, Json> = Object.create(null)
  for (const name of Object.keys(traits).sort((one, other) => sizeOf(one) - sizeOf(other))) {
    room -= sizeOf(name)
    if (room > 0) kept[name] = traits[name]!
  }
  return Object.keys(kept).length ? kept : undefined
}
