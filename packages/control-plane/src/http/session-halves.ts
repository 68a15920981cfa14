import type { Claim } from '../people/authentication.ts'
import { SESSION_MS } from '../people/sessions.ts'

/** Of a request; those of node:http fit. */
export interface RequestHeaders {
  readonly authorization?: string | undefined
  readonly cookie?: string | undefined
  readonly [name: string]: string | string[] | undefined
}

const HALF_HEADER = 'x-millrace-session'

/**
 * What a request says of who makes it. Of a session both halves must be there: browsers send the cookie to every port of
 * the host, and with what a page of another port posts; the header they send only for a page of ours.
 *
 * @see contracts/dashboard.md §3 "Session", §4 N2
 */
export function claimOf(headers: RequestHeaders, port: number): Claim {
  const cookie = cookieOf(headers, port)
  const half = headers[HALF_HEADER]
  const isWhole = cookie !== undefined && typeof half === 'string'
  return { authorization: headers.authorization, session: isWhole ? { cookie, half } : undefined }
}

export function carriesSession(headers: RequestHeaders, port: number): boolean {
  return headers[HALF_HEADER] !== undefined || cookieOf(headers, port) !== undefined
}

/**
 * Set-Cookie of a new session; of one that ended with an empty value.
 *
 * @param isSecure whether it was asked for over https; then the browser sends it back only so.
 */
export function sessionCookie(value: string, port: number, isSecure: boolean): string {
  const seconds = value === '' ? 0 : SESSION_MS / 1000
  const cookie = `${cookieName(port)}=${value}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${seconds}`
  return isSecure ? `${cookie}; Secure` : cookie
}

/** As the browser sees it, or as the proxy does that ends TLS. To lie about it harms nobody but oneself. */
export function isOverHttps(headers: RequestHeaders): boolean {
  const { origin, 'x-forwarded-proto': proto } = headers
  return String(origin).startsWith('https://') || /^https\b/i.test(String(proto))
}

/**
 * Whether a page of another origin, so also of another port, makes the request. Browsers say so in Sec-Fetch-Site, but not
 * all of them, and none to a server without TLS; then their Origin is compared with the host that was asked.
 */
export function isFromElsewhere(headers: RequestHeaders): boolean {
  const { 'sec-fetch-site': site, origin, host, 'x-forwarded-host': forwardedHost } = headers
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  if (origin === undefined) return false
  const page = URL.parse(String(origin))
  if (page === null) return true
  // No page of another origin can set the header of a proxy.
  return ![host, forwardedHost].some((asked) => URL.parse(`${page.protocol}//${asked}`)?.host === page.host)
}

/** Of several with one name the first; one that is not ours fits no half. */
function cookieOf({ cookie = '' }: RequestHeaders, port: number): string | undefined {
  const start = `${cookieName(port)}=`
  const found = cookie.split(';').find((each) => each.trimStart().startsWith(start))
  return found?.trim().slice(start.length)
}

/** Cookies know no ports. */
function cookieName(port: number): string {
  return `mr_session_${port}`
}
