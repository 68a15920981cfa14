/**
 * The user name of a Basic header; undefined for any other header, or an empty name. The password is ignored.
 *
 * @see contracts/ingest.md §2
 */
export function basicUserName(authorization: string): string | undefined {
  const known = recent.get(authorization)
  if (known !== undefined) return known
  const match = BASIC.exec(authorization)
  // Base64 text never has this length: the last character would stand for six bits.
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

/** A token of another service, which some client libraries send; the write key is then in the body. */
export function isBearer(authorization: string): boolean {
  return BEARER.test(authorization)
}

/** The key part of `key:secret`: keys of this server have no secret. */
export function withoutSecret(writeKey: string): string {
  return writeKey.split(':', 1)[0]!.trim()
}

const BEARER = /^bearer(?: |$)/i
const BASIC = /^basic +([A-Za-z0-9+/_-]+={0,2})$/i

// A client sends the same header with every request, so it is decoded once.
const recent = new Map<string, string>()
const MAX_RECENT = 1_000
// Room for a key of 27 characters and a password of usual length; longer headers are not cached.
const MAX_REMEMBERED_LENGTH = 200
