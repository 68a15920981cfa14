import { isIP } from 'node:net'
import { parseEgressList } from '@millrace/delivery/egress-list'
import { MASK } from './setting.ts'

/** Parsers of single settings: the value of a text, undefined if it is not allowed. */

export function parseHost(text: string): string | undefined {
  if (isIP(text) !== 0) return text
  // A name of digits and dots only is a mistyped address.
  return /^(?![\d.]+$)[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text) && text.length <= 253 ? text : undefined
}

/** The external address of a server, without a trailing slash. */
export function parseBaseUrl(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return undefined
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return undefined
  return url.href.replace(/\/+$/, '')
}

export function parseProxy(text: string): string | undefined {
  const url = URL.parse(text)
  const isProxy =
    url !== null && ['http:', 'https:'].includes(url.protocol) && url.pathname === '/' && url.search === ''
  return isProxy ? text : undefined
}

/** A URL, also a malformed one, with its user, password and query masked: a query may hold a password. */
export function showUrl(text: string): string {
  return text.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, `$1${MASK}@`).replace(/\?.*/s, `?${MASK}`)
}

export function parseEmail(text: string): string | undefined {
  return /^[^\s@]+@[^\s@]+$/.test(text) && text.length <= 254 ? text : undefined
}

/** Characters that a header can carry, except the colon, which ends the user name of Basic. */
export function parseOwnerToken(text: string): string | undefined {
  return /^[!-9;-~]{24,200}$/.test(text) ? text : undefined
}

/** 32 bytes as base64 or base64url, or as 64 hex digits. */
export function parseSecretKey(text: string): Uint8Array | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return new Uint8Array(Buffer.from(text, 'hex'))
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? new Uint8Array(Buffer.from(text, 'base64')) : undefined
}

export function parseEgress(text: string): string | undefined {
  try {
    parseEgressList(text)
    return text
  } catch {
    return undefined
  }
}

/** A comma list of addresses and CIDR ranges. */
export function parseNetworks(text: string): readonly string[] | undefined {
  const networks = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  return networks.every(isNetwork) ? networks : undefined
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}

/** Printable text on one line. */
export function parseLine(text: string): string | undefined {
  return /^[^\p{Cc}]{1,1000}$/u.test(text) ? text : undefined
}

export function parsePassword(text: string): string | undefined {
  return parseLine(text) !== undefined && [...text].length >= MIN_PASSWORD_LENGTH ? text : undefined
}

const MIN_PASSWORD_LENGTH = 12

/** A user name or password of Basic: a user name contains no colon. */
export function parseUserName(text: string): string | undefined {
  return text.includes(':') ? undefined : parseLine(text)
}
