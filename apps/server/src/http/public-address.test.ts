import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { publicAddress } from './public-address.ts'

const PROXY = '10.0.0.2'
const FALLBACK = 'http://127.0.0.1:8080'

function addressOf(headers: Record<string, string>, peer: string, configured?: string) {
  const isTrustedProxy = (address: string | undefined) => address === PROXY
  const request = { headers, socket: { remoteAddress: peer } } as unknown as IncomingMessage
  return publicAddress({ configured, isTrustedProxy, fallback: FALLBACK })(request)
}

test.each([
  ['the host that was asked', '10.0.0.9', { host: 'cdp.example:8080' }, 'http://cdp.example:8080'],
  ['an IPv6 host', '10.0.0.9', { host: '[::1]:8080' }, 'http://[::1]:8080'],
  ['no host', '10.0.0.9', {}, FALLBACK],
  ['a host that is none', '10.0.0.9', { host: 'evil"/><script>' }, FALLBACK],
  ['a host with a path', '10.0.0.9', { host: 'cdp.example/x' }, FALLBACK],
  [
    'what a client says that is no proxy',
    '10.0.0.9',
    {
      host: 'cdp.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-prefix': '/x',
    },
    'http://cdp.example',
  ],
  [
    'what a proxy was asked',
    PROXY,
    { host: '10.0.0.3:8080', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'cdp.example' },
    'https://cdp.example',
  ],
  [
    'the first of several proxies',
    PROXY,
    { host: 'inner', 'x-forwarded-proto': 'https, http', 'x-forwarded-host': 'cdp.example, inner' },
    'https://cdp.example',
  ],
  [
    'another port',
    PROXY,
    { host: 'cdp.example', 'x-forwarded-port': '8443', 'x-forwarded-proto': 'https' },
    'https://cdp.example:8443',
  ],
  [
    'the usual port',
    PROXY,
    { host: 'cdp.example', 'x-forwarded-port': '443', 'x-forwarded-proto': 'https' },
    'https://cdp.example',
  ],
  [
    'the path below which the proxy has it',
    PROXY,
    { host: 'cdp.example', 'x-forwarded-prefix': '/cdp/' },
    'http://cdp.example/cdp',
  ],
  ['a path that is none', PROXY, { host: 'cdp.example', 'x-forwarded-prefix': '/../"x' }, 'http://cdp.example'],
] as const)('is derived from the request: %s', (_what, peer, headers, url) => {
  expect(addressOf(headers, peer)).toEqual({ url, isDerived: true })
})

test('is MILLRACE_PUBLIC_URL where that is set, whatever the request says', () => {
  const headers = { host: 'inner', 'x-forwarded-host': 'other.example' }
  expect(addressOf(headers, PROXY, 'https://cdp.example/in/')).toEqual({
    url: 'https://cdp.example/in',
    isDerived: false,
  })
})
