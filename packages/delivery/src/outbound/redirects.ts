import type { OutboundRequest } from './outbound-request.ts'
import type { Target } from './target.ts'

const KEEPING_THE_METHOD = [307, 308]
/** A GET stays one whatever the redirect; any other method is never turned into one, so these are not followed. */
const FOR_GET = [301, 302, 303, ...KEEPING_THE_METHOD]

/** @returns where to go on, or undefined if the answer counts as it is. @see contracts/test-api.md §13 */
export function redirectLocation(
  method: string,
  status: number,
  location: string | undefined,
  from: Target,
): string | undefined {
  const followed = method === 'GET' ? FOR_GET : KEEPING_THE_METHOD
  if (location === undefined || !followed.includes(status)) return undefined
  return URL.parse(location, from.origin + from.pathAndQuery)?.href
}

const BOUND_TO_THE_ORIGIN = ['authorization', 'proxy-authorization', 'cookie', 'host']

/**
 * The request's headers for a hop; away from home without secrets.
 *
 * @param authorization used at home if the headers have none of their own.
 */
export function headersFor(
  request: OutboundRequest,
  authorization: string | undefined,
  isAtHome: boolean,
): Readonly<Record<string, string>> {
  const { headers } = request
  if (isAtHome && authorization === undefined) return headers
  const names = Object.keys(headers)
  if (isAtHome) {
    const isGiven = names.some((name) => name.toLowerCase() === 'authorization')
    return isGiven ? headers : { ...headers, authorization: authorization! }
  }
  // Asked for only here: whoever makes requests need not name their secrets for nothing.
  const { secretHeaders } = request
  const isKept = (name: string) => !secretHeaders.includes(name) && !BOUND_TO_THE_ORIGIN.includes(name)
  return Object.fromEntries(names.filter((name) => isKept(name.toLowerCase())).map((name) => [name, headers[name]!]))
}
