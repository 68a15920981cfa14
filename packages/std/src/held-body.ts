import type { IncomingMessage } from 'node:http'

/**
 * Whether the client sends the body only after `100 Continue`. HTTP/1.0 has no such answer (RFC 9110 §10.1.1): a client of it would take it for
 * the final one.
 */
export function isBodyHeldBack({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.expect !== undefined && httpVersion === '1.1'
}
