import type { IncomingMessage } from 'node:http'

/** The address of this server for clients: an absolute URL without a trailing slash. */
export interface PublicAddress {
  readonly url: string
  /** It depends on the request, so an answer that contains it is valid for this client only. */
  readonly isDerived: boolean
}

interface PublicAddressOptions {
  /** MILLRACE_PUBLIC_URL. */
  readonly configured: string | undefined
  /** Whether the peer may set `X-Forwarded-*`. */
  readonly isTrustedProxy: (address: string | undefined) => boolean
  /** For a request without a readable `Host`. */
  readonly fallback: string
}

/** @returns a function that computes the address from a request. @see contracts/ingest.md §8 [D131] */
export function publicAddress(options: PublicAddressOptions): (request: IncomingMessage) => PublicAddress {
  const { configured, isTrustedProxy, fallback } = options
  return ({ headers, socket }) => {
    if (configured !== undefined) return { url: configured.replace(/\/+$/, ''), isDerived: false }
    const forwarded = (name: string) => {
      const value = isTrustedProxy(socket.remoteAddress) ? headers[`x-forwarded-${name}`] : undefined
      // With several proxies the outermost comes first.
      return (
        String(value ?? '')
          .split(',', 1)[0]!
          .trim() || undefined
      )
    }
    const host = forwarded('host') ?? headers.host ?? ''
    if (!HOST.test(host)) return { url: fallback, isDerived: true }
    const protocol = forwarded('proto') === 'https' ? 'https' : 'http'
    const port = forwarded('port') ?? ''
    const isPortNeeded = PORT.test(port) && !/:\d+$/.test(host) && port !== STANDARD_PORT[protocol]
    const prefix = (forwarded('prefix') ?? '').replace(/\/+$/, '')
    return {
      url: `${protocol}://${host}${isPortNeeded ? `:${port}` : ''}${PREFIX.test(prefix) ? prefix : ''}`,
      isDerived: true,
    }
  }
}

const HOST = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i
const PORT = /^\d{1,5}$/
const PREFIX = /^(?:\/[\w.~-]+)+$/
const STANDARD_PORT = { http: '80', https: '443' } as const
