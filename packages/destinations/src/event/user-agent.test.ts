import { expect, test } from 'vitest'
import { type UserAgentFacts, userAgentFacts } from './user-agent.ts'

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)'
const SAFARI = 'AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5'

test.each<[userAgent: string, facts: UserAgentFacts]>([
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) ${SAFARI} Mobile/15E148 Safari/604.1`,
    {
      browser: 'Safari',
      browserVersion: '17.5',
      os: 'iOS',
      osVersion: '17.5',
      manufacturer: 'Apple',
      model: 'iPhone',
    },
  ],
  [
    `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} Chrome/142.0.0.0 Mobile Safari/537.36`,
    { browser: 'Chrome', browserVersion: '142.0.0.0', os: 'Android', osVersion: '10' },
  ],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0`,
    { browser: 'Microsoft Edge', browserVersion: '126.0.0.0', os: 'Windows', osVersion: '10' },
  ],
  [
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${SAFARI} Safari/605.1.15`,
    { browser: 'Safari', browserVersion: '17.5', os: 'macOS', osVersion: '10.15.7', manufacturer: 'Apple' },
  ],
  [
    'Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0',
    { browser: 'Firefox', browserVersion: '127.0', os: 'Linux' },
  ],
  ['curl/8.4.0', {}],
])('%s', (userAgent, facts) => {
  // Twice: parsed, then known.
  for (let n = 0; n < 2; n++) expect(userAgentFacts(userAgent)).toEqual(facts)
})

test('nothing comes of a value that is no text', () => {
  for (const value of [undefined, null, '', 7, ['x'], { a: 1 }]) expect(userAgentFacts(value)).toEqual({})
})

test('only the first 1,000 characters are read', () => {
  const firefox = 'Firefox/127.0'
  expect(userAgentFacts(' '.repeat(1_000 - firefox.length) + firefox).browser).toBe('Firefox')
  expect(userAgentFacts(' '.repeat(1_000) + firefox).browser).toBeUndefined()
})

test('a hostile text of 100 KB costs no more than milliseconds', () => {
  const parts = ['(', 'a', ' ', '1.', 'Android ', 'version/', 'opera mini;;', '(a/1 ', 'Mozilla/5.0 (Linux; ', '\u0000']
  for (const part of parts) {
    const hostile = part.repeat(100_000 / part.length)
    const start = performance.now()
    for (let n = 0; n < 10; n++) userAgentFacts(hostile)
    expect(performance.now() - start, part).toBeLessThan(1_000)
  }
})

test('more user agents than are kept are still read', () => {
  for (let n = 0; n < 2_500; n++) expect(userAgentFacts(`Firefox/${n}.0`)).toMatchObject({ browserVersion: `${n}.0` })
})
