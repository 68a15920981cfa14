import type { IncomingMessage, ServerResponse } from 'node:http'

const EXPOSED =
  'RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, X-Request-Id, X-Millrace-Event-Index, ETag'

/** A shared cache may keep this answer; it must not give it to a page of another origin. */
const VARY = { Vary: 'Origin' }

/**
 * Headers that let a page of any origin read the answer. Write keys are public, so all origins have equal rights,
 * `null` and app schemes included.
 *
 * @see contracts/ingest.md §10
 */
export function corsHeaders(request: IncomingMessage): Readonly<Record<string, string>> {
  const { origin } = request.headers
  if (origin === undefined) return VARY
  return {
    ...VARY,
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Credentials': 'true',
    'Access-Control-Expose-Headers': EXPOSED,
  }
}

export function answerPreflight(request: IncomingMessage, response: ServerResponse, requestId: string): void {
  const requested = request.headers['access-control-request-headers']
  const asksPrivateNetwork = request.headers['access-control-request-private-network'] === 'true'
  response.writeHead(204, {
    ...corsHeaders(request),
    'X-Request-Id': requestId,
    'Access-Control-Allow-Methods': 'GET, POST, HEAD',
    'Access-Control-Max-Age': '900',
    ...(requested === undefined ? {} : { 'Access-Control-Allow-Headers': requested }),
    ...(asksPrivateNetwork ? { 'Access-Control-Allow-Private-Network': 'true' } : {}),
  })
  response.end()
}
