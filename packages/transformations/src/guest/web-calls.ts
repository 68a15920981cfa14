import { createHash, createHmac } from 'node:crypto'

/** Larger texts are refused: they would be held twice, here and in the sandbox. */
const MAX_CHARS = 16 * 1024 * 1024

/**
 * Operations of the web's and our own globals that the sandbox hands over as text, because a second implementation of
 * them would be a worse one.
 *
 * @returns undefined when the input is refused.
 */
export function webCall(operation: string, texts: readonly string[]): string | undefined {
  const [first = '', second = '', third = ''] = texts
  if (first.length + second.length > MAX_CHARS) return undefined
  switch (operation) {
    case 'sha256':
    case 'md5':
      return createHash(operation).update(first).digest('hex')
    case 'hmacSha256':
      return createHmac('sha256', first).update(second).digest('hex')
    case 'atob':
      return atob(first)
    case 'btoa':
      return btoa(first)
    case 'url':
      return URL.canParse(first, texts[1]) ? parts(new URL(first, texts[1])) : undefined
    case 'url with': {
      const url = new URL(first)
      if (!isSettable(second)) return undefined
      url[second] = third
      return parts(url)
    }
    case 'query pairs':
      return JSON.stringify([...new URLSearchParams(first)])
    case 'query text':
      return new URLSearchParams(JSON.parse(first) as [string, string][]).toString()
    case 'encoding':
      return new TextDecoder(first).encoding
    case 'decode': {
      const [fatal, ignoreBOM] = [third.includes('fatal'), third.includes('bom')]
      return new TextDecoder(first, { fatal, ignoreBOM }).decode(Buffer.from(second, 'latin1'))
    }
    default:
      return undefined
  }
}

const SETTABLE = [
  'href',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const

function isSettable(name: string): name is (typeof SETTABLE)[number] {
  return (SETTABLE as readonly string[]).includes(name)
}

function parts(url: URL): string {
  return JSON.stringify(Object.fromEntries([...SETTABLE, 'origin' as const].map((name) => [name, url[name]])))
}
