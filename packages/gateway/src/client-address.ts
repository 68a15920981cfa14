import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/**
 * The address an event came from: the first one in X-Forwarded-For when that is an address, else the peer. It may be
 * made up by the client, so it enriches events and decides nothing.
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

// The longest IPv6 address has 45 characters. A zone may follow it, which would be an address at any length.
const MAX_ADDRESS_LENGTH = 64

/** The address of the other end of the connection; an IPv4 one in its own notation. */
function peerAddress(request: IncomingMessage): string {
  const address = request.socket.remoteAddress ?? ''
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
}

/** Without brackets and port: `[2001:db8::1]:443`, `203.0.113.9:443`. */
function plainAddress(text: string): string {
  if (text.startsWith('[')) return text.slice(1, Math.max(1, text.indexOf(']')))
  const [address, port] = text.split(':')
  return port !== undefined && text.indexOf(':') === text.lastIndexOf(':') ? address! : text
}
