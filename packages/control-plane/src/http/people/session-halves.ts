import type { Claim } from '../../people/authentication.ts'
import { SESSION_MS } from '../../people/sessions.ts'

/** Headers of a request; those of node:http have this type. */
export interface RequestHeaders {
  readonly authorization?: string | undefined
  readonly cookie?: string | undefined
  readonly [name: string]: string | string[] | undefined
}

const HALF_HEADER = 'x-millrace-session'

/**
 * The session halves in a request. A session needs both: browsers send the cookie to every port of the host, even with
 * requests of pages of another port, but they send the header only for our own pages.
 *
 * @see contracts/dashboard.md §3 "Session", §4 N2
 */
export function claimOf(headers: RequestHeaders, serverName: string): Claim {
  const cookie = cookieOf(headers, serverName)
  const half = headers[HALF_HEADER]
  const isWhole = cookie !== undefined && typeof half === 'string'
  return { authorization: headers.authorization, session: isWhole ? { cookie, half } : undefined }
}

export function carriesSession(headers: RequestHeaders, serverName: string): boolean {
  return headers[HALF_HEADER] !== undefined || cookieOf(headers, serverName) !== undefined
}

/**
 * Set-Cookie of a new session; an empty value ends the session.
 *
 * @param isSecure whether the request used https; the browser then returns the cookie over https only.
 */
export function sessionCookie(value: string, serverName: string, isSecure: boolean): string {
  const seconds = value === '' ? 0 : SESSION_MS / 1000
  const cookie = `${cookieName(serverName)}=${value}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${seconds}`
  return isSecure ? `${cookie}; Secure` : cookie
}

/** Whether the browser, or the proxy that ends TLS, used https. A client that forges this harms only itself. */
export function isOverHttps(headers: RequestHeaders): boolean {
  const { origin, 'x-forwarded-proto': proto } = headers
  return String(origin).startsWith('https://') || /^https\b/i.test(String(proto))
}

/**
 * Whether a page of another origin, or another port, makes the request. Most browsers send Sec-Fetch-Site, but some do
 * not, and none to a server without TLS; then Origin is compared with the requested host.
 */
export function isFromElsewhere(headers: RequestHeaders): boolean {
  const { 'sec-fetch-site': site, origin, host, 'x-forwarded-host': forwardedHost } = headers
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  if (origin === undefined) return false
  const page = URL.parse(String(origin))
  if (page === null) return true
  // A page of another origin cannot set the header of a proxy.
  return ![host, forwardedHost].some((asked) => URL.parse(`${page.protocol}//${asked}`)?.host === page.host)
}

/** The first of several cookies with one name; a cookie of another server matches no half. */
function cookieOf({ cookie = '' }: RequestHeaders, serverName: string): string | undefined {
  const start = `${cookieName(serverName)}=`
  const found = cookie.split(';').find((each) => each.trimStart().startsWith(start))
  return found?.trim().slice(start.length)
}

/** Cookies do not distinguish ports. */
function cookieName(serverName: string): string {
  return `mr_session_${serverName}`
}
