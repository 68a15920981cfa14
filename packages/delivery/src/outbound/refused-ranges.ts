import ipaddr from 'ipaddr.js'
import { FURTHER_REFUSED, SPECIAL_PURPOSE } from './special-purpose.ts'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Everything that is not a public address. @see contracts/delivery.md §9 */
const REFUSED = networks([...SPECIAL_PURPOSE, ...FURTHER_REFUSED].map(([block]) => block))

const LOOPBACK = networks(['127.0.0.0/8', '::1/128'])

/** Prefixes whose addresses hold an IPv4 address, and at which byte. */
const HOLDING_IPV4: readonly [prefix: [Address, number], firstByte: number][] = [
  [ipaddr.parseCIDR('2002::/16'), 2], // 6to4
  [ipaddr.parseCIDR('64:ff9b::/96'), 12], // NAT64
  [ipaddr.parseCIDR('::ffff:0:0:0/96'), 12], // IPv4-translated
  [ipaddr.parseCIDR('::/96'), 12], // IPv4-compatible
]

/** An address as it is reached: an IPv4-mapped one is its IPv4 address. @returns undefined if the text is no address. */
export function parseAddress(text: string): Address | undefined {
  return ipaddr.isValid(text) ? ipaddr.process(text) : undefined
}

/** The address and, where it holds an IPv4 address that a gateway would go on to, that one too. */
export function reachedBy(address: Address): Address[] {
  if (address.kind() === 'ipv4') return [address]
  const holding = HOLDING_IPV4.find(([prefix]) => isIn(address, prefix))
  const firstByte = isIsatap(address) ? 12 : holding?.[1]
  if (firstByte === undefined) return [address]
  return [address, new ipaddr.IPv4(address.toByteArray().slice(firstByte, firstByte + 4))]
}

export function isRefused(address: Address): boolean {
  return isIsatap(address) || REFUSED.some((network) => isIn(address, network))
}

/** A tunnel to the IPv4 address in the last four bytes, below any prefix (RFC 5214 §6.1). */
function isIsatap(address: Address): boolean {
  if (address.kind() === 'ipv4') return false
  const [u, zero, five, fe] = address.toByteArray().slice(8, 12)
  // The first byte may have the bits for universal and for group set.
  return ((u ?? 1) & 0xfc) === 0 && zero === 0 && five === 0x5e && fe === 0xfe
}

export function isLoopback(address: Address): boolean {
  return LOOPBACK.some((network) => isIn(address, network))
}

export function isIn(address: Address, network: readonly [Address, number]): boolean {
  return address.kind() === network[0].kind() && address.match(network[0], network[1])
}

function networks(texts: string[]): [Address, number][] {
  return texts.map((text) => ipaddr.parseCIDR(text))
}
