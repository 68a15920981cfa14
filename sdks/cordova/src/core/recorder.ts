import { integrationsOf } from './arguments.ts'
import type { State, StateChanges } from './bridge.ts'
import type { Call, EventCall, StateCall } from './call.ts'
import { Context } from './context.ts'
import { type EventMembers, eventTail, eventText, isTooLarge } from './event-text.ts'
import {
  type Identity,
  identityAfter,
  identityAfterReset,
  identityChanges,
  identityFrom,
  merge,
  NOBODY,
} from './identity.ts'
import { BACKGROUNDED } from './lifecycle.ts'
import type { JsonObject } from './plain-json.ts'
import { type Session, sessionAt, sessionFrom } from './session.ts'

export interface RecorderOptions {
  readonly channel: 'mobile' | 'web'
  readonly integrations: JsonObject | undefined
  /** Of initialize: they become part of the identity. */
  readonly externalIds: Identity['externalIds']
  /** Undefined: no session members. */
  readonly sessionTimeoutMs: number | undefined
  readonly newId: () => string
}

export type Recorded =
  | { readonly kind: 'row'; readonly body: string; readonly messageId: string; readonly changes: StateChanges }
  | { readonly kind: 'too-large' }

/** Makes rows of calls: who, in which session, in which context. */
export class Recorder {
  readonly context = new Context()
  private identity: Identity = NOBODY
  private session: Session | undefined
  private readonly options: RecorderOptions

  constructor(options: RecorderOptions) {
    this.options = options
  }

  load(state: State): void {
    this.identity = identityFrom(state)
    this.session = sessionFrom(state['session'])
  }

  /** What another tab has changed; other keys are left alone. */
  adopt(changes: StateChanges): void {
    const own: Record<string, string | null> = { ...identityChanges(NOBODY, this.identity), ...changes }
    const state: Record<string, string> = {}
    for (const key of Object.keys(own)) if (own[key] !== null) state[key] = own[key]!
    this.identity = identityFrom(state)
    if (typeof changes['session'] === 'string') this.session = sessionFrom(changes['session'])
  }

  /** Tracking is allowed: takes over the external ids of initialize, and makes an anonymousId if none is known. */
  begin(): StateChanges {
    const { newId, externalIds } = this.options
    return this.become({
      ...this.identity,
      anonymousId: this.identity.anonymousId || newId(),
      externalIds: merge(this.identity.externalIds, externalIds),
    })
  }

  record(call: EventCall): Recorded {
    const identity = identityAfter(this.identity, call)
    const { session, isFirst } = this.sessionOf(call)
    const text = this.context.text(
      identity,
      session ? { sessionId: session.id, ...(isFirst && { sessionStart: true }) } : {},
      call.kind === 'identify' ? undefined : call.options.externalIds,
    )
    const messageId = this.options.newId()
    const body = eventText(messageId, call.at, eventTail(this.members(call, identity), text))
    if (isTooLarge(body)) return { kind: 'too-large' }
    this.session = session
    const marker = call.kind === 'track' ? call.origin?.marker : undefined
    const changes = {
      ...this.become(identity),
      ...(session && { session: JSON.stringify(session) }),
      ...(marker !== undefined && { marker }),
    }
    return { kind: 'row', body, messageId, changes }
  }

  /** @param mayMakeIds false while disabled: reset(true) then erases and makes nothing. */
  apply(call: StateCall, mayMakeIds: boolean): StateChanges {
    switch (call.kind) {
      case 'anonymousId':
        return this.become({ ...this.identity, anonymousId: call.value })
      case 'deviceToken':
        return this.become(withToken(this.identity, call.value))
      case 'advertisingId':
        this.context.advertise(call.value === '' ? {} : { id: call.value, enabled: true })
        return {}
      case 'reset': {
        const renewed = call.renews ? (mayMakeIds ? this.options.newId() : '') : undefined
        const over = this.session && { ...this.session, isOver: true as const }
        this.session = over
        const changes = this.become(identityAfterReset(this.identity, renewed))
        return over ? { ...changes, session: JSON.stringify(over) } : changes
      }
    }
  }

  forgetToken(): void {
    this.identity = withToken(this.identity, '')
  }

  /** Of an Application Backgrounded event as it would be now. It belongs to the latest event's session and starts none. */
  tail(): string {
    const call: Call = { kind: 'track', name: BACKGROUNDED, properties: {}, at: 0, options: {} }
    const session = this.options.sessionTimeoutMs === undefined ? undefined : this.session
    const text = this.context.text(this.identity, session ? { sessionId: session.id } : {}, undefined)
    return eventTail(this.members(call, this.identity), text)
  }

  private sessionOf(call: EventCall): { session: Session | undefined; isFirst: boolean } {
    const { sessionTimeoutMs } = this.options
    if (sessionTimeoutMs === undefined) return { session: undefined, isFirst: false }
    const isLeaving = call.kind === 'track' && call.origin?.lifecycle && call.name === BACKGROUNDED
    if (isLeaving) return { session: this.session, isFirst: false }
    return sessionAt(this.session, call.at, sessionTimeoutMs)
  }

  private members(call: EventCall, identity: Identity): EventMembers {
    const type = call.kind
    const { channel } = this.options
    const { anonymousId, userId } = identity
    const integrations = integrationsOf(call.options, this.options.integrations)
    const who = { type, channel, anonymousId, userId }
    switch (call.kind) {
      case 'identify':
        return { ...who, traits: identity.traits, integrations }
      case 'track':
        return { ...who, event: call.name, properties: call.properties, integrations }
      case 'screen': {
        const properties = 'name' in call.properties ? call.properties : merge(call.properties, { name: call.name })
        return { ...who, event: call.name, name: call.name, properties, integrations }
      }
      case 'group':
        return { ...who, groupId: call.groupId, traits: call.traits, integrations }
      case 'alias':
        return { ...who, previousId: this.identity.userId ?? this.identity.anonymousId, integrations }
    }
  }

  private become(identity: Identity): StateChanges {
    const changes = identityChanges(this.identity, identity)
    this.identity = identity
    return changes
  }
}

function withToken(identity: Identity, token: string): Identity {
  const { deviceToken: _, ...rest } = identity
  return token === '' ? rest : { ...rest, deviceToken: token }
}
