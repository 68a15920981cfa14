import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Everything that is not a public address. @see contracts/delivery.md §9 */
const REFUSED = networks([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
  'ff00::/8',
  '2001::/32',
  '2001:db8::/32',
  // NAT64 of a local network: where the IPv4 address lies in it is that network's choice, so it cannot be looked at.
  '64:ff9b:1::/48',
])

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
  if (holding === undefined) return [address]
  return [address, new ipaddr.IPv4(address.toByteArray().slice(holding[1], holding[1] + 4))]
}

export function isRefused(address: Address): boolean {
  return REFUSED.some((network) => isIn(address, network))
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
