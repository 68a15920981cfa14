import type { IncomingMessage } from 'node:http'

/** Where clients reach this server: an absolute URL without a slash at its end. */
export interface PublicAddress {
  readonly url: string
  /** It comes from the request, so that an answer which holds it is for this client alone. */
  readonly isDerived: boolean
}

interface PublicAddressOptions {
  /** MILLRACE_PUBLIC_URL. */
  readonly configured: string | undefined
  /** Whether the peer may say in `X-Forwarded-*` what it was asked for. */
  readonly isTrustedProxy: (address: string | undefined) => boolean
  /** For a request whose `Host` cannot be read. */
  readonly fallback: string
}

/** @returns what tells the address of this server as the client of a request sees it. @see contracts/ingest.md §8 [D131] */
export function publicAddress(options: PublicAddressOptions): (request: IncomingMessage) => PublicAddress {
  const { configured, isTrustedProxy, fallback } = options
  return ({ headers, socket }) => {
    if (configured !== undefined) return { url: configured.replace(/\/+$/, ''), isDerived: false }
    const forwarded = (name: string) => {
      const value = isTrustedProxy(socket.remoteAddress) ? headers[`x-forwarded-${name}`] : undefined
      // Of several proxies the outermost comes first.
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
