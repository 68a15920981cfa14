import { BlockList, isIP } from 'node:net'

/**
 * Finds the address by which a client is limited: the peer or, where proxies are trusted, the last address on the way
 * here that is not one of them. Unlike the first one of X-Forwarded-For, a client cannot make it up.
 *
 * @param trustedProxies addresses and CIDR ranges.
 * @throws Error for one that is neither.
 * @see contracts/decisions.md [D9]
 */
export function limitAddress(
  trustedProxies: readonly string[],
): (peer: string | undefined, forwardedFor: string | string[] | undefined) => string {
  const isTrusted = trustedProxy(trustedProxies)
  return (peer, forwardedFor) => {
    const way = [...[forwardedFor ?? []].flat().join(',').split(','), peer ?? ''].map(plainAddress)
    for (const address of way.toReversed()) {
      if (!isTrusted(address)) return address
    }
    return way[0]!
  }
}

/** @returns whether an address is one of the trusted proxies. @throws Error for a proxy that is neither address nor range. */
export function trustedProxy(trustedProxies: readonly string[]): (address: string | undefined) => boolean {
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

/** An IPv4 address in its own notation, without brackets and port. */
function plainAddress(text: string): string {
  const address = text.trim().replace(/^\[(.*)\](?::\d+)?$/, '$1')
  const withoutPort = /^[\d.]+:\d+$/.test(address) ? address.slice(0, address.indexOf(':')) : address
  return withoutPort.startsWith('::ffff:') ? withoutPort.slice('::ffff:'.length) : withoutPort
}
