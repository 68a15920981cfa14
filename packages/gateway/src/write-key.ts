/**
 * The user name of a Basic header; undefined when the header is anything else or the name is empty. The password is not
 * looked at.
 *
 * @see contracts/ingest.md §2
 */
export function basicUserName(authorization: string): string | undefined {
  const known = recent.get(authorization)
  if (known !== undefined) return known
  const match = BASIC.exec(authorization)
  // So many characters cannot be base64: the last one would stand for six bits.
  if (match === null || match[1]!.replace(/=+$/, '').length % 4 === 1) return undefined
  const credentials = Buffer.from(match[1]!, 'base64').toString('latin1')
  const colon = credentials.indexOf(':')
  const userName = colon === -1 ? credentials : credentials.slice(0, colon)
  if (userName === '') return undefined
  if (authorization.length <= MAX_REMEMBERED_LENGTH) {
    if (recent.size >= MAX_RECENT) recent.clear()
    recent.set(authorization, userName)
  }
  return userName
}

/** A token of another service, as some client libraries send it; they put the write key into the body then. */
export function isBearer(authorization: string): boolean {
  return BEARER.test(authorization)
}

/** Of a key in the form `key:secret`, the key: a key here has no secret. */
export function withoutSecret(writeKey: string): string {
  return writeKey.split(':', 1)[0]!.trim()
}

const BEARER = /^bearer(?: |$)/i
const BASIC = /^basic +([A-Za-z0-9+/_-]+={0,2})$/i

// A client sends the same header with every request; decoding it once is enough.
const recent = new Map<string, string>()
const MAX_RECENT = 1_000
// Room for a key of 27 characters and any sensible password; not for what only wants to fill the memory.
const MAX_REMEMBERED_LENGTH = 200
