import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/**
 * The address of an event's sender: the first one in X-Forwarded-For if it is an address, else the peer. A client can
 * forge it, so it enriches events and decides nothing.
 *
 * @see contracts/ingest.md §10 "request_ip"
 */
export function clientAddress(request: IncomingMessage): string {
  const forwarded = request.headers['x-forwarded-for']
  if (forwarded !== undefined) {
    const first = plainAddress((forwarded as string).split(',', 1)[0]!.trim())
    if (first.length <= MAX_ADDRESS_LENGTH && isIP(first) !== 0) return first
  }
  return peerAddress(request)
}

// The longest IPv6 address has 45 characters. A zone may follow it, of any length.
const MAX_ADDRESS_LENGTH = 64

/** The address of the peer; an IPv4 address in IPv4 notation. */
function peerAddress(request: IncomingMessage): string {
  const address = request.socket.remoteAddress ?? ''
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
}

/** Removes brackets and port: `[2001:db8::1]:443`, `203.0.113.9:443`. */
function plainAddress(text: string): string {
  if (text.startsWith('[')) return text.slice(1, Math.max(1, text.indexOf(']')))
  const [address, port] = text.split(':')
  return port !== undefined && text.indexOf(':') === text.lastIndexOf(':') ? address! : text
}
