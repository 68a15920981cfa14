/**
 * Headers that say where a request goes or where it ends, rather than what it means: hop-by-hop and framing headers
 * (RFC 9110 section 7.6, RFC 9112 section 6), `host`, and those by which some servers choose a virtual host or a path in its place.
 */
const CONNECTION_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-forwarded-host',
  'x-host',
  'x-original-host',
  'x-original-url',
  'x-rewrite-url',
])

/**
 * Whether a header may come from the configuration only: an event that set it could send the configured secrets to
 * another virtual host, or pass a second request for one of ours.
 */
export function isConnectionHeader(name: string): boolean {
  return CONNECTION_HEADERS.has(name.trim().toLowerCase())
}
