/** A URL as requests need it. */
export interface Target {
  /** Scheme, host and port as `URL.origin` gives them: addresses in their plain notation, no default port. */
  readonly origin: string
  /** An IPv6 address without its brackets. */
  readonly hostname: string
  readonly port: number
  readonly isSecure: boolean
  readonly pathAndQuery: string
  /** Header for the user and password in the URL. */
  readonly authorization: string | undefined
}

/** Why a text is no URL to send to. */
export type TargetProblem = 'malformed' | 'scheme'

const MAX_TARGETS = 256
const MAX_KEPT_LENGTH = 2_048

/** Reads URLs; most requests of a destination go to the same few. */
export class Targets {
  readonly #known = new Map<string, Target>()

  read(url: string): Target | TargetProblem {
    const known = this.#known.get(url)
    if (known !== undefined) return known
    const target = parseTarget(url)
    if (typeof target === 'object' && url.length <= MAX_KEPT_LENGTH) {
      if (this.#known.size >= MAX_TARGETS) this.#known.clear()
      this.#known.set(url, target)
    }
    return target
  }
}

function parseTarget(text: string): Target | TargetProblem {
  const url = URL.parse(text)
  if (url === null) return 'malformed'
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'scheme'
  const isSecure = url.protocol === 'https:'
  return {
    origin: url.origin,
    hostname: url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname,
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    isSecure,
    pathAndQuery: url.pathname + url.search,
    authorization: basicAuthorization(url),
  }
}

function basicAuthorization({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined
  return `Basic ${Buffer.from(`${decode(username)}:${decode(password)}`).toString('base64')}`
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
