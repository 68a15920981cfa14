import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** An entry of MILLRACE_EGRESS_ALLOW or MILLRACE_EGRESS_DENY; without a port it stands for every port. */
export type EgressEntry =
  | { readonly kind: 'network'; readonly network: Network; readonly port: number | undefined }
  | { readonly kind: 'host'; readonly host: string; readonly port: number | undefined }

export type Network = [address: ipaddr.IPv4 | ipaddr.IPv6, prefixBits: number]

/**
 * Reads a comma list of CIDR or host, each with an optional `:port`. A single address is a CIDR too; IPv6 with a port is
 * written in brackets. A host stands for exactly that name.
 *
 * @throws Error naming the entry that is none of these.
 * @see contracts/delivery.md §9
 */
export function parseEgressList(text: string): EgressEntry[] {
  const entries: EgressEntry[] = []
  for (const part of text.split(',')) {
    const entry = part.trim()
    if (entry !== '') entries.push(parseEntry(entry))
  }
  return entries
}

const IN_BRACKETS = /^\[([^\]]*)\](\/\d{1,3})?(?::(\d{1,5}))?$/
const BARE = /^([^:[\]]+)(?::(\d{1,5}))?$/

function parseEntry(entry: string): EgressEntry {
  const wrong = new Error(`"${entry}" is not a CIDR or host with an optional :port`)
  const bracketed = IN_BRACKETS.exec(entry)
  const bare = BARE.exec(entry)
  const place = bracketed ? bracketed[1]! + (bracketed[2] ?? '') : (bare?.[1] ?? entry)
  const portText = bracketed ? bracketed[3] : bare?.[2]
  const port = portText === undefined ? undefined : Number(portText)
  if (port !== undefined && (port < 1 || port > 65_535)) throw wrong
  const network = parseNetwork(place)
  if (network !== undefined) return { kind: 'network', network, port }
  const host = bracketed ? undefined : parseHost(place)
  if (host === undefined) throw wrong
  return { kind: 'host', host, port }
}

function parseNetwork(text: string): Network | undefined {
  const slashAt = text.indexOf('/')
  const address = slashAt === -1 ? text : text.slice(0, slashAt)
  // The library also takes `10` or `0x7f.1` for addresses; in a list of permissions only the plain forms are clear.
  const version = isIP(address)
  if (version === 0 || address.includes('%')) return undefined
  const widest = version === 4 ? 32 : 128
  const bits = slashAt === -1 ? String(widest) : text.slice(slashAt + 1)
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > widest) return undefined
  return asIPv4Network([ipaddr.parse(address), Number(bits)])
}

/** Addresses are judged without the IPv4-mapped form, so networks are kept without it as well. */
function asIPv4Network(network: Network): Network {
  const [address, bits] = network
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96) {
    return [address.toIPv4Address(), bits - 96]
  }
  return network
}

function parseHost(text: string): string | undefined {
  if (!/^[\p{L}\p{N}_.-]+$/u.test(text)) return undefined
  const url = URL.parse(`http://${text}/`)
  // What a URL takes for an address in another notation is not a name.
  if (url === null || isIP(url.hostname) !== 0) return undefined
  return plainHost(url.hostname)
}

/** `Example.test.` and `example.test` are the same name. */
export function plainHost(hostname: string): string {
  return hostname.toLowerCase().replace(/\.+$/, '')
}
