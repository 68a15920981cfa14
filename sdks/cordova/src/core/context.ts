import type { ContextFacts } from './bridge.ts'
import type { AppFacts } from './configuration.ts'
import { contextTraits, externalIdList, type Identity, merge } from './identity.ts'
import type { JsonObject } from './plain-json.ts'
import { LIBRARY_NAME, SDK_VERSION } from './version.ts'

/** What the WebView or the page tells of itself. */
export interface PageFacts {
  readonly language?: string
  readonly timezone?: string
  readonly userAgent?: string
}

/** Of this process only, never stored. */
export interface Advertising {
  readonly id?: string
  readonly enabled?: boolean
  readonly att?: number
}

export interface SessionMembers {
  readonly sessionId?: number
  readonly sessionStart?: true
}

/**
 * The text of `context`. Its parts are cached and only made anew when what they show has changed: a call may not cost
 * more than 0.1 ms.
 *
 * @see contracts/cordova-sdk.md §9
 */
export class Context {
  private facts: ContextFacts = {}
  private page: PageFacts = {}
  private app: AppFacts | undefined
  private advertising: Advertising = {}
  private fixed: string | undefined
  private identity: Identity | undefined
  private traits = ''
  private externalId = ''

  /** @param app used where the platform does not know the app itself. */
  open(facts: ContextFacts, app: AppFacts | undefined): void {
    this.facts = facts
    this.app = app
    this.fixed = undefined
  }

  /** Replaces the members named. */
  learn(facts: ContextFacts): void {
    this.facts = { ...this.facts, ...facts }
    this.fixed = undefined
  }

  see(page: PageFacts): void {
    this.page = page
    this.fixed = undefined
  }

  advertise(advertising: Advertising): void {
    this.advertising = advertising
    this.fixed = undefined
  }

  /** @param ownIds external ids of this event alone, over those of the identity. */
  text(identity: Identity, session: SessionMembers, ownIds: Identity['externalIds'] | undefined): string {
    if (identity !== this.identity) {
      if (identity.deviceToken !== this.identity?.deviceToken) this.fixed = undefined
      this.identity = identity
      this.traits = JSON.stringify(contextTraits(identity))
      this.externalId = externalIdText(identity.externalIds)
    }
    this.fixed ??= JSON.stringify(this.fixedMembers(identity.deviceToken)).slice(1, -1)
    const externalId = ownIds ? externalIdText(merge(identity.externalIds, ownIds)) : this.externalId
    const { sessionId, sessionStart } = session
    const sessionText =
      sessionId === undefined ? '' : `,"sessionId":${sessionId}${sessionStart ? ',"sessionStart":true' : ''}`
    return `{${this.fixed}${externalId}${sessionText},"traits":${this.traits}}`
  }

  private fixedMembers(token: string | undefined): JsonObject {
    const { app, device, locale, ...others } = this.facts
    const { language, timezone, userAgent } = this.page
    const { id, enabled, att } = this.advertising
    const wholeDevice = {
      ...(device as JsonObject | undefined),
      ...(token !== undefined && { token }),
      ...(id !== undefined && { advertisingId: id }),
      ...(enabled !== undefined && { adTrackingEnabled: enabled }),
      ...(att !== undefined && { attTrackingStatus: att }),
    }
    const members: Record<string, unknown> = {
      ...others,
      app: app ?? this.app,
      device: Object.keys(wholeDevice).length > 0 ? wholeDevice : undefined,
      library: { name: LIBRARY_NAME, version: SDK_VERSION },
      locale: language || locale,
      timezone,
      userAgent,
    }
    const sorted: Record<string, unknown> = {}
    for (const name of Object.keys(members).sort()) sorted[name] = members[name]
    return sorted as JsonObject
  }
}

function externalIdText(ids: Identity['externalIds']): string {
  const list = externalIdList(ids)
  return list.length === 0 ? '' : `,"externalId":${JSON.stringify(list)}`
}
