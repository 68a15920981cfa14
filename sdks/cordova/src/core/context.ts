import type { ContextFacts } from './bridge.ts'
import type { Corrected } from './calls/arguments.ts'
import { contextTraits, externalIdText, type Identity, mergeIds } from './identity.ts'
import type { AppFacts } from './source/configuration.ts'
import { MAX_CARRIED_BYTES, utf8Length } from './text/utf8.ts'
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

export interface Known {
  facts?: ContextFacts
  page?: PageFacts
  /** Used where the platform does not know the app itself. */
  app?: AppFacts | undefined
  advertising?: Advertising
}

export interface SessionMembers {
  readonly sessionId?: number
  readonly sessionStart?: true | undefined
}

/**
 * The text of `context`. Its parts are cached and only made anew when what they show has changed: a call may not cost
 * more than 0.1 ms.
 *
 * @param warn is told which ids of an event were left out.
 * @see contracts/cordova-sdk.md §9
 */
export function newContext(warn: Corrected) {
  let known: Known = {}
  let fixed = ''
  let identity: Identity | undefined
  let traits = ''
  let externalId = ''

  const fixedMembers = (token = ''): object => {
    const { facts = {}, page = {}, advertising = {}, app } = known
    const { id, enabled, att } = advertising
    // An earlier version stored longer ones.
    const isCarried = token && utf8Length(token) <= MAX_CARRIED_BYTES
    const added = {
      token: isCarried ? token : undefined,
      advertisingId: id,
      adTrackingEnabled: enabled,
      attTrackingStatus: att,
    }
    const device = { ...(facts['device'] as object), ...added }
    const members: Record<string, unknown> = {
      ...facts,
      app: facts['app'] || app,
      device: JSON.stringify(device) === '{}' ? undefined : device,
      library: { name: LIBRARY_NAME, version: SDK_VERSION },
      locale: page.language || facts['locale'],
      timezone: page.timezone,
      userAgent: page.userAgent,
    }
    return members
  }

  return {
    /** Replaces the members named; of the facts, each by itself. */
    learn(some: Known) {
      known = { ...known, ...some, facts: { ...known.facts, ...some.facts } }
      fixed = ''
    },

    /** @param ownIds external ids of this event alone, over those of the identity. */
    text(who: Identity, session: SessionMembers | undefined, ownIds: Identity['externalIds'] | undefined): string {
      if (who !== identity) {
        if (!identity || who.deviceToken !== identity.deviceToken) fixed = ''
        identity = who
        traits = JSON.stringify(contextTraits(who))
        externalId = externalIdText(who.externalIds)
      }
      fixed = fixed || JSON.stringify(fixedMembers(who.deviceToken)).slice(1, -1)
      const ids = ownIds ? externalIdText(mergeIds(who.externalIds, ownIds, warn)) : externalId
      const sessionText = session ? `,${JSON.stringify(session).slice(1, -1)}` : ''
      return `{${fixed}${ids}${sessionText},"traits":${traits}}`
    },
  }
}
