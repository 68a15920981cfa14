import { BlockList, isIP } from 'node:net'

/**
 * Returns the address by which limits count a client: the peer or, with trusted proxies, the last address in the chain
 * that is not one of them. A client can forge the first address of X-Forwarded-For, but not this one.
 *
 * @param trustedProxies addresses and CIDR ranges.
 * @throws Error for an invalid entry.
 * @see contracts/decisions.md [D9]
 */
export function limitAddress(
  trustedProxies: readonly string[],
): (peer: string | undefined, forwardedFor: string | string[] | undefined) => string {
  if (trustedProxies.length === 0) return (peer) => plainAddress(peer ?? '')
  const isTrusted = trustedAddresses(trustedProxies)
  return (peer, forwardedFor) => {
    const way = [...[forwardedFor ?? []].flat().join(',').split(','), peer ?? ''].map(plainAddress)
    for (const address of way.toReversed()) {
      if (!isTrusted(address)) return address
    }
    return way[0]!
  }
}

/** @returns whether an address is one of the proxies. @throws Error for one that is neither address nor CIDR range. */
export function trustedAddresses(trustedProxies: readonly string[]): (address: string | undefined) => boolean {
  const trusted = new BlockList()
  for (const proxy of trustedProxies) {
    const [network = '', prefix] = proxy.split('/')
    const family = isIP(network) === 6 ? 'ipv6' : 'ipv4'
    if (prefix === undefined) trusted.addAddress(network, family)
    else trusted.addSubnet(network, Number(prefix), family)
  }
  return (text = '') => {
    const address = plainAddress(text)
    const version = isIP(address)
    return version !== 0 && trusted.check(address, version === 6 ? 'ipv6' : 'ipv4')
  }
}

/**
 * The form in which limits count an address: of an IPv6 address the first 64 bits, because one client controls all
 * addresses of the network.
 */
export function limitGroup(address: string): string {
  if (isIP(address) !== 6) return address
  const [before = '', after] = address.split('%', 1)[0]!.split('::')
  const groups = before === '' ? [] : before.split(':')
  if (after !== undefined) {
    const tail = after === '' ? 0 : after.split(':').length
    groups.push(...Array<string>(Math.max(0, 8 - groups.length - tail)).fill('0'), ...after.split(':'))
  }
  return groups
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')
}

/** An IPv4 address in IPv4 notation, without brackets and port. */
function plainAddress(text: string): string {
  const address = text.trim().replace(/^\[(.*)\](?::\d+)?$/, '$1')
  const withoutPort = /^[\d.]+:\d+$/.test(address) ? address.slice(0, address.indexOf(':')) : address
  return withoutPort.startsWith('::ffff:') ? withoutPort.slice('::ffff:'.length) : withoutPort
}
