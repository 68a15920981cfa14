const LOCAL_HOST = /^(localhost|127\.0\.0\.1|10\.0\.2\.2|\[::1\])(?![^:/])/i
const URL_PARTS = /^(https?:\/\/(?:[^\s\0-,/:-@[-^`{-\x7f]+|\[[0-9a-f:.]+\]))(:\d{1,5})?(\/[^\s?#]*)?([?#]\S*)?$/i

/**
 * The address of a data or control plane: path kept; trailing slashes, query and fragment removed.
 *
 * Not left to `URL`: old WebViews accept there what they cannot send to, and Node, browsers and phones should agree.
 *
 * @returns no url when it is none; isAdjusted: the scheme was missing.
 * @see contracts/cordova-sdk.md §3.1
 */
export function addressOf(given: unknown): { url?: string; isAdjusted?: boolean } {
  const text = typeof given === 'string' ? given.trim() : ''
  const isAdjusted = !text.includes('://')
  const complete = isAdjusted ? `${LOCAL_HOST.test(text) ? 'http' : 'https'}://${text}` : text
  const [, origin, port = '', path = ''] = URL_PARTS.exec(complete) || []
  if (!origin || +port.slice(1) > 65_535) return {}
  return { url: origin.toLowerCase() + port + path.replace(/\/+$/, ''), isAdjusted }
}

/** Scheme, host and port. */
export function originOf(url: string): string {
  return url.split('/', 3).join('/')
}
