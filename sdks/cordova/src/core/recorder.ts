import { type CallOptions, integrationsOf } from './arguments.ts'
import type { State, StateChanges } from './bridge.ts'
import type { EventCall, StateCall } from './call.ts'
import type { Configuration } from './configuration.ts'
import { newContext } from './context.ts'
import { eventTail, eventText, isTooLarge } from './event-text.ts'
import type { Host } from './host.ts'
import {
  changed,
  type Identity,
  identityAfter,
  identityChanges,
  identityFrom,
  identityTexts,
  merge,
  NOBODY,
} from './identity.ts'
import { BACKGROUNDED } from './lifecycle.ts'
import { type Session, sessionAt, sessionFrom } from './session.ts'
import { applyChanges } from './state-changes.ts'
import { uuidOf } from './uuid.ts'

export interface Recorded {
  readonly body: string
  readonly messageId: string
  readonly changes: StateChanges
}

export type Recorder = ReturnType<typeof newRecorder>

/**
 * Makes rows of calls: who, in which session, in which context.
 *
 * @param initial the options of initialize: their external ids become part of the identity.
 */
export function newRecorder(host: Host, { autoSessionTracking, sessionTimeout }: Configuration, initial: CallOptions) {
  const channel = host.platform === 'browser' ? 'web' : 'mobile'
  /** 0: no session members. */
  const sessionTimeoutMs = autoSessionTracking ? sessionTimeout * 1000 : 0
  const newId = () => uuidOf(host.randomBytes(16))
  const context = newContext()
  let identity = NOBODY
  let session: Session | undefined

  const become = (next: Identity): Record<string, string | null> => {
    const changes = identityChanges(identity, next)
    identity = next
    return changes
  }

  /** What is particular to the kind of a call. */
  const members = ({ kind, name, data }: EventCall, after: Identity): object => {
    if (kind === 'identify') return { traits: after.traits }
    if (kind === 'group') return { groupId: name, traits: data }
    if (kind === 'alias') return { previousId: identity.userId ?? identity.anonymousId }
    if (kind === 'track') return { event: name, properties: data }
    return { event: name, name, properties: 'name' in data ? data : merge(data, { name }) }
  }

  const tailOf = (call: EventCall, after: Identity, its: Session | undefined, isFirst: boolean): string => {
    const { anonymousId, userId } = after
    const { kind, options } = call
    return eventTail(
      Object.assign({ type: kind, channel, anonymousId, userId }, members(call, after), {
        integrations: integrationsOf(options, initial.integrations),
      }),
      context.text(
        after,
        its && { sessionId: its.id, sessionStart: isFirst || undefined },
        kind === 'identify' ? undefined : options.externalIds,
      ),
    )
  }

  return {
    context,

    load(state: State) {
      identity = identityFrom(state)
      session = sessionFrom(state['session'])
    },

    /** What another tab has changed; other keys are left alone. */
    adopt(changes: StateChanges) {
      const state: Record<string, string> = {}
      applyChanges(state, identityTexts(identity))
      applyChanges(state, changes)
      identity = identityFrom(state)
      session = sessionFrom(state['session']) || session
    },

    /** Tracking is allowed: takes over the external ids of initialize, and makes an anonymousId if none is known. */
    begin: (): StateChanges =>
      become(
        changed(identity, {
          anonymousId: identity.anonymousId || newId(),
          externalIds: merge(identity.externalIds, initial.externalIds || {}),
        }),
      ),

    /** @returns undefined when it is too large. */
    record(call: EventCall): Recorded | undefined {
      const { at, name, origin } = call
      const after = identityAfter(identity, call)
      // Leaving the app is no activity.
      const isActive = sessionTimeoutMs && !(origin && name === BACKGROUNDED)
      const next = isActive ? sessionAt(session, at, sessionTimeoutMs) : session
      const isFirst = next !== undefined && (!session || next.id !== session.id)
      const messageId = newId()
      const body = eventText(messageId, at, tailOf(call, after, sessionTimeoutMs ? next : undefined, isFirst))
      if (isTooLarge(body)) return undefined
      const changes = become(after)
      if (isActive) changes['session'] = JSON.stringify(next)
      if (origin?.marker) changes['marker'] = origin.marker
      session = next
      return { body, messageId, changes }
    },

    /** @param mayMakeIds false while disabled: reset(true) then erases and makes nothing. */
    apply(call: StateCall, mayMakeIds: boolean): StateChanges {
      if (call.kind === 'reset') {
        const { anonymousId, deviceToken } = identity
        const kept = call.renews ? { anonymousId: mayMakeIds ? newId() : '' } : { anonymousId, deviceToken }
        const changes = become(changed(NOBODY, kept))
        if (session) {
          session = { id: session.id, lastAt: session.lastAt, isOver: true }
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
      const call: EventCall = { kind: 'track', name: BACKGROUNDED, data: {}, at: 0, options: {} }
      return tailOf(call, identity, sessionTimeoutMs ? session : undefined, false)
    },
  }
}
