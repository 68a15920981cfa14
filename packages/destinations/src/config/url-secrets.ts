/** A part of an address that is secret: its user, its password, or the value of a query parameter. */
export interface UrlSecret {
  /** The same for the same part of another address: `user`, `password`, or `?` and the parameter's name and number. */
  readonly part: string
  /** As it stands in the address. */
  readonly value: string
}

const SECRET_PARAMETER = /key|token|secret|sig|auth|password|code/i
const ONE_PLACEHOLDER = /^\{\{[^{}]+\}\}$/

/**
 * A copy of an address in which every secret part has the value that `map` gives, or is removed.
 *
 * @see contracts/destinations.md §3
 */
export function mapUrlSecrets(address: string, map: (secret: UrlSecret) => string | undefined): string {
  const [, beforeQuery, query, fragment] = /^([^?#]*)(\?[^#]*)?(.*)$/s.exec(address)!
  const isReadable = isWebAddress(address)
  // An unescaped /, ? or # in a password makes the address none at all: then everything before the last @ is the user part.
  if (!isReadable && address.includes('@')) return mapUserPart(address, address.lastIndexOf('@'), map)
  const authorityEnd = /^[\0-\x20]*[a-z][a-z0-9+.-]*:[\\/]*[^\\/]*/i.exec(beforeQuery!)?.[0].length ?? 0
  const at = isReadable ? beforeQuery!.lastIndexOf('@', authorityEnd - 1) : -1
  const mapped = at === -1 ? beforeQuery! : mapUserPart(beforeQuery!, at, map)
  return mapped + (query === undefined ? '' : mapQuery(query, map)) + fragment!
}

function isWebAddress(address: string): boolean {
  const protocol = URL.parse(address)?.protocol
  return protocol === 'http:' || protocol === 'https:'
}

/** @param at where the user part ends. */
function mapUserPart(address: string, at: number, map: (secret: UrlSecret) => string | undefined): string {
  // Without slashes a scheme cannot be told from a user name: `ada:pw@host` has none.
  const scheme = /^[\0-\x20]*(?:https?:[\\/]*|[a-z][a-z0-9+.-]*:[\\/]+)/i.exec(address.slice(0, at))?.[0] ?? ''
  const [user = '', ...rest] = address.slice(scheme.length, at).split(':')
  const password = rest.length === 0 ? undefined : rest.join(':')
  const shownUser = user === '' ? user : map({ part: 'user', value: user })
  const shownPassword = password ? map({ part: 'password', value: password }) : password
  const colon = shownPassword === undefined ? '' : ':'
  const isGone = shownUser === undefined && shownPassword === undefined
  const userPart = isGone ? '' : `${shownUser ?? ''}${colon}${shownPassword ?? ''}@`
  return scheme + userPart + address.slice(at + 1)
}

function mapQuery(query: string, map: (secret: UrlSecret) => string | undefined): string {
  const counts = new Map<string, number>()
  const pairs = query.slice(1).split('&')
  const kept = pairs.flatMap((pair) => {
    const equals = pair.indexOf('=')
    const [name, value] = equals === -1 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)]
    const plainName = decoded(name).toLowerCase()
    if (value === '' || !SECRET_PARAMETER.test(plainName) || ONE_PLACEHOLDER.test(value)) return [pair]
    const count = counts.get(plainName) ?? 0
    counts.set(plainName, count + 1)
    const mapped = map({ part: `?${plainName}${count === 0 ? '' : `#${count}`}`, value })
    return mapped === undefined ? [] : [`${name}=${mapped}`]
  })
  return kept.length === 0 ? '' : `?${kept.join('&')}`
}

/** The secrets of an address in every form in which they travel: as written, decoded, and as a Basic header. */
export function urlSecretValues(address: string): string[] {
  const values = new Set<string>()
  const userPart = new Map<string, string>()
  mapUrlSecrets(address, ({ part, value }) => {
    values.add(value).add(decoded(value))
    if (part.startsWith('?')) values.add(decoded(value.replaceAll('+', ' ')))
    else userPart.set(part, decoded(value))
    return value
  })
  if (userPart.size > 0) {
    const pair = `${userPart.get('user') ?? ''}:${userPart.get('password') ?? ''}`
    const credentials = Buffer.from(pair).toString('base64')
    values.add(credentials).add(`Basic ${credentials}`)
  }
  return [...values]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
