import { type EgressEntry, parseEgressList, plainHost } from './egress-list.ts'
import { isIn, isLoopback, isRefused, parseAddress, reachedBy } from './refused-ranges.ts'

export interface EgressRulesOptions {
  /** MILLRACE_EGRESS_ALLOW; undefined or blank: not set. */
  readonly allow: string | undefined
  /** MILLRACE_EGRESS_DENY. */
  readonly deny: string | undefined
  /** MILLRACE_HOST: the address on which the server listens. */
  readonly listenHost: string
}

/** Where a request wants to go. */
export interface EgressPlace {
  /** As in a URL, an IPv6 address without its brackets. */
  readonly hostname: string
  readonly port: number
  /** Whether this is the origin that the destination's own configuration names. */
  readonly isConfigured: boolean
}

/** Why the guard refused a place; the texts of contracts/transformations.md §4 are made of it. */
export type EgressRefusal =
  | { readonly reason: 'denied host'; readonly hostname: string }
  | { readonly reason: 'literal address'; readonly address: string }
  | { readonly reason: 'resolved address'; readonly hostname: string; readonly address: string }

/**
 * Which addresses may be reached. Every question is answered for the address that is then connected to, never for a
 * name alone.
 *
 * @see contracts/delivery.md §9
 */
export class EgressRules {
  readonly #allow: readonly EgressEntry[]
  readonly #deny: readonly EgressEntry[]
  readonly #isLoopbackOpen: boolean

  /** @throws Error naming the entry of a list that cannot be read. */
  constructor(options: EgressRulesOptions) {
    this.#allow = parseEgressList(options.allow ?? '')
    this.#deny = parseEgressList(options.deny ?? '')
    this.#isLoopbackOpen = this.#allow.length === 0 && isLoopbackHost(options.listenHost)
  }

  /** Judges what is known before the name is resolved: the name itself, or the address in its place. */
  judgeHost(place: EgressPlace): EgressRefusal | undefined {
    const { hostname } = place
    if (this.#deny.some((entry) => namesHost(entry, place))) return { reason: 'denied host', hostname }
    if (parseAddress(hostname) === undefined) return undefined
    return this.#mayReach(hostname, place) ? undefined : { reason: 'literal address', address: hostname }
  }

  /** Judges every address that the name has: one that is refused refuses them all. */
  judgeAddresses(addresses: readonly string[], place: EgressPlace): EgressRefusal | undefined {
    const refused = addresses.find((address) => !this.#mayReach(address, place))
    if (refused === undefined) return undefined
    return { reason: 'resolved address', hostname: place.hostname, address: refused }
  }

  #mayReach(text: string, place: EgressPlace): boolean {
    const address = parseAddress(text)
    if (address === undefined) return false
    const reached = reachedBy(address)
    const isListed = (entry: EgressEntry) =>
      entry.kind === 'network' &&
      (entry.port === undefined || entry.port === place.port) &&
      reached.some((each) => isIn(each, entry.network))
    if (this.#deny.some(isListed)) return false
    if (this.#allow.some((entry) => isListed(entry) || namesHost(entry, place))) return true
    if (this.#isLoopbackOpen && place.isConfigured && isLoopback(address)) return true
    return !reached.some(isRefused)
  }
}

function namesHost(entry: EgressEntry, place: EgressPlace): boolean {
  return (
    entry.kind === 'host' &&
    (entry.port === undefined || entry.port === place.port) &&
    entry.host === plainHost(place.hostname)
  )
}

/** Whether a server that listens on a host is reached from its own machine only. */
export function isLoopbackHost(host: string): boolean {
  const address = parseAddress(host.replace(/^\[|\]$/g, ''))
  return address === undefined ? plainHost(host) === 'localhost' : isLoopback(address)
}
