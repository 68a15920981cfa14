import type { JsonObject, StoredEvent } from '@millrace/protocol'
import { contextObject, present } from './event-facts.ts'

/** Where a visit came from. */
export interface Referrer {
  readonly url: string
  /** Host name of the address. */
  readonly domain: string
  /** Whether the page itself has the same host. */
  readonly isOwnSite: boolean
}

/** `context.campaign` under the names of UTM parameters; its `name` is `utm_campaign`. */
export function utmParameters(event: StoredEvent): JsonObject {
  const { source, medium, name, term, content } = contextObject(event, 'campaign')
  return present({
    utm_source: source,
    utm_medium: medium,
    utm_campaign: name,
    utm_term: term,
    utm_content: content,
  })
}

/** `context.page.referrer`, if it is an address with a host. */
export function referrerOf(event: StoredEvent): Referrer | undefined {
  const { referrer, url } = contextObject(event, 'page')
  const domain = hostNameOf(referrer)
  if (typeof referrer !== 'string' || domain === undefined) return undefined
  return { url: referrer, domain, isOwnSite: hostNameOf(url) === domain }
}

function hostNameOf(address: unknown): string | undefined {
  const name = typeof address === 'string' ? URL.parse(address)?.hostname : undefined
  return name === '' ? undefined : name
}
