export type AddressJudged =
  | { readonly kind: 'usable'; readonly url: string; readonly isInsecure: boolean; readonly isAdjusted: boolean }
  | { readonly kind: 'refused' }

const LOCAL_HOST = /^(localhost|127\.0\.0\.1|10\.0\.2\.2|\[::1\])(?=[:/]|$)/i
const URL_PARTS =
  /^(https?):\/\/([^\s/?#@\\<>"{}|^`[\]%,;!()]+?|\[[0-9a-f:.]+\])(:\d{1,5})?(\/[^\s?#]*)?(\?[^\s#]*)?(#\S*)?$/i

/**
 * The address of a data or control plane: path kept; trailing slashes, query and fragment removed.
 *
 * Not left to `URL`: old WebViews accept there what they cannot send to, and Node, browsers and phones should agree.
 *
 * @see contracts/cordova-sdk.md §3.1
 */
export function judgedAddress(given: unknown): AddressJudged {
  if (typeof given !== 'string') return { kind: 'refused' }
  const text = given.trim()
  const isAdjusted = !text.includes('://')
  const complete = isAdjusted ? `${LOCAL_HOST.test(text) ? 'http' : 'https'}://${text}` : text
  const parts = URL_PARTS.exec(complete)
  if (!parts) return { kind: 'refused' }
  const [, scheme = '', host = '', port = '', path = ''] = parts
  if (Number(port.slice(1)) > 65_535) return { kind: 'refused' }
  const url = `${scheme.toLowerCase()}://${host.toLowerCase()}${port}${path.replace(/\/+$/, '')}`
  return { kind: 'usable', url, isInsecure: scheme.toLowerCase() === 'http', isAdjusted }
}

/** Scheme, host and port. */
export function originOf(url: string): string {
  return url.split('/', 3).join('/')
}
