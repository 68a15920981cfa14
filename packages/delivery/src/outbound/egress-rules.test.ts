import ipaddr from 'ipaddr.js'
import { describe, expect, test } from 'vitest'
import { parseEgressList } from './egress-list.ts'
import { EgressRules } from './egress-rules.ts'
import { FURTHER_REFUSED, SPECIAL_PURPOSE } from './special-purpose.ts'
import { Targets } from './target.ts'

/** @param url also in notations that only a URL's parser understands. */
function mayReach(
  url: string,
  options: Partial<ConstructorParameters<typeof EgressRules>[0]> = {},
  isConfigured = false,
) {
  const target = new Targets().read(url)
  if (typeof target !== 'object') throw new Error(`${url} is ${target}`)
  const rules = new EgressRules({ allow: undefined, deny: undefined, listenHost: '0.0.0.0', ...options })
  return rules.judgeHost({ hostname: target.hostname, port: target.port, isConfigured }) === undefined
}

describe('refused by default', () => {
  // First and last address of each range of contracts/delivery.md §9, then its neighbours outside.
  test.each([
    ['0.0.0.0', '0.255.255.255', ['1.0.0.0']],
    ['10.0.0.0', '10.255.255.255', ['9.255.255.255', '11.0.0.0']],
    ['100.64.0.0', '100.127.255.255', ['100.63.255.255', '100.128.0.0']],
    ['127.0.0.0', '127.255.255.255', ['126.255.255.255', '128.0.0.0']],
    ['169.254.0.0', '169.254.255.255', ['169.253.255.255', '169.255.0.0']],
    ['172.16.0.0', '172.31.255.255', ['172.15.255.255', '172.32.0.0']],
    ['192.0.0.0', '192.0.0.255', ['191.255.255.255', '192.0.1.0']],
    ['192.0.2.0', '192.0.2.255', ['192.0.3.0']],
    ['192.31.196.0', '192.31.196.255', ['192.31.195.255', '192.31.197.0']],
    ['192.52.193.0', '192.52.193.255', ['192.52.192.255', '192.52.194.0']],
    ['192.88.99.0', '192.88.99.255', ['192.88.98.255', '192.88.100.0']],
    ['192.175.48.0', '192.175.48.255', ['192.175.47.255', '192.175.49.0']],
    ['168.63.129.16', '168.63.129.16', ['168.63.129.15', '168.63.129.17']],
    ['192.168.0.0', '192.168.255.255', ['192.167.255.255', '192.169.0.0']],
    ['198.18.0.0', '198.19.255.255', ['198.17.255.255', '198.20.0.0']],
    ['198.51.100.0', '198.51.100.255', ['198.51.99.255', '198.51.101.0']],
    ['203.0.113.0', '203.0.113.255', ['203.0.112.255', '203.0.114.0']],
    ['224.0.0.0', '239.255.255.255', ['223.255.255.255']],
    ['240.0.0.0', '255.255.255.255', []],
  ])('%s to %s, in every notation', (first, last, outside) => {
    for (const address of [first, last]) {
      for (const host of notations(address)) expect(mayReach(`http://${host}/`), host).toBe(false)
    }
    for (const address of outside) {
      for (const host of notations(address)) expect(mayReach(`http://${host}/`), host).toBe(true)
    }
  })

  test.each([
    ['::', '::', ['2::']],
    ['::1', '::1', []],
    ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ['fbff::', 'fe00::']],
    ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ['fe7f::']],
    ['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
    ['ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
    ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', ['2000:ffff::', '2001:200::']],
    ['100::', '100::ffff:ffff:ffff:ffff', ['ff::', '100:0:0:2::']],
    ['100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff', ['100:0:0:2::']],
    ['2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff', ['2620:4f:7fff::', '2620:4f:8001::']],
    ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', ['3ffe::', '3fff:1000::']],
    ['5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ['5eff::', '5f01::']],
    ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', ['2001:db7::', '2001:db9::']],
    ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', ['64:ff9b:2::']],
  ])('%s to %s', (first, last, outside) => {
    for (const address of [first, last]) expect(mayReach(`http://[${address}]/`), address).toBe(false)
    for (const address of outside) expect(mayReach(`http://[${address}]/`), address).toBe(true)
  })

  test.each([...SPECIAL_PURPOSE, ...FURTHER_REFUSED])('%s, %s', (block) => {
    const [address, bits] = ipaddr.parseCIDR(block)
    const bytes = address.toByteArray()
    const last = bytes.map((byte, at) => byte | (0xff >> Math.min(8, Math.max(0, bits - at * 8))))
    for (const each of [bytes, last]) {
      const text = ipaddr.fromByteArray(each).toString()
      expect(mayReach(`http://${text.includes(':') ? `[${text}]` : text}/`), text).toBe(false)
    }
  })

  test.each([
    ['2600::5efe:a00:1', false],
    ['2600::5efe:101:101', false],
    ['2600::200:5efe:101:101', false],
    ['2600::300:5efe:a9fe:a9fe', false],
    ['fd00::5efe:101:101', false],
    ['2600::5eff:101:101', true],
    ['2600::400:5efe:101:101', true],
    ['2600::1:5efe:101:101', true],
    ['2600::5efe:101:101:1', true],
  ])('ISATAP: %s may be reached: %s', (address, is) => {
    expect(mayReach(`http://[${address}]/`)).toBe(is)
  })

  test('ISATAP is judged by the address in it where networks are named', () => {
    expect(mayReach('http://[2600::5efe:a00:1]/', { allow: '10.0.0.0/8' })).toBe(true)
    expect(mayReach('http://[2600::5efe:a00:1]/', { allow: '2600::/16', deny: '10.0.0.0/8' })).toBe(false)
  })

  test('what is no address at all', () => {
    const rules = new EgressRules({ allow: undefined, deny: undefined, listenHost: '127.0.0.1' })
    const place = { hostname: 'hook.test', port: 80, isConfigured: true }
    expect(rules.judgeAddresses(['fe80::1%eth0'], place)).toBeDefined()
    expect(rules.judgeAddresses(['nonsense'], place)).toBeDefined()
    expect(rules.judgeAddresses(['1.1.1.1', '10.0.0.1', '8.8.8.8'], place)).toEqual({
      reason: 'resolved address',
      hostname: 'hook.test',
      address: '10.0.0.1',
    })
  })
})

/** Ways to write an IPv4 address into a URL. */
function notations(address: string): string[] {
  const bytes = address.split('.').map(Number) as [number, number, number, number]
  const [a, b, c, d] = bytes
  const hex = (byte: number) => byte.toString(16).padStart(2, '0')
  const groups = `${hex(a)}${hex(b)}:${hex(c)}${hex(d)}`
  return [
    address,
    String(((a * 256 + b) * 256 + c) * 256 + d),
    `0x${bytes.map(hex).join('')}`,
    `0x${a.toString(16)}.${(b * 256 + c) * 256 + d}`,
    bytes.map((byte) => `0${byte.toString(8)}`).join('.'),
    `${a}.${b}.${c * 256 + d}`,
    `${address}.`,
    [...address].map((char) => `%${hex(char.charCodeAt(0))}`).join(''),
    address.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    `[::ffff:${address}]`,
    `[0:0:0:0:0:ffff:${groups}]`,
    `[2002:${groups}::1]`,
    `[64:ff9b::${groups}]`,
    `[::ffff:0:${groups}]`,
  ]
}

describe('lists', () => {
  test.each([
    { allow: '10.0.0.0/8', url: 'http://10.1.2.3/', is: true },
    { allow: '10.0.0.0/8', url: 'http://[::ffff:10.1.2.3]/', is: true },
    { allow: '::ffff:10.0.0.0/104', url: 'http://10.1.2.3/', is: true },
    { allow: '10.0.0.0/8', url: 'http://192.168.0.1/', is: false },
    { allow: '10.1.2.3', url: 'http://10.1.2.4/', is: false },
    { allow: '10.1.2.3:8080', url: 'http://10.1.2.3:8080/', is: true },
    { allow: '10.1.2.3:8080', url: 'http://10.1.2.3:8081/', is: false },
    { allow: '10.0.0.0/8:443', url: 'https://10.1.2.3/', is: true },
    { allow: 'fd00::/8', url: 'http://[fd00::1]:81/', is: true },
    { allow: '[fd00::/8]:80', url: 'http://[fd00::1]/', is: true },
    { allow: '[fd00::]/8:80', url: 'http://[fd00::1]:81/', is: false },
    { allow: ' 192.168.0.1 ,, 10.0.0.0/8', url: 'http://10.1.2.3/', is: true },
    { deny: '1.1.1.0/24', url: 'http://1.1.1.1/', is: false },
    { deny: '1.1.1.0/24', url: 'http://[2002:101:101::]/', is: false },
    { deny: '1.1.1.1:443', url: 'http://1.1.1.1/', is: true },
    { deny: '1.1.1.1:443', url: 'https://1.1.1.1/', is: false },
    { allow: '10.0.0.0/8', deny: '10.1.0.0/16', url: 'http://10.1.2.3/', is: false },
    { allow: '10.0.0.0/8', deny: '10.1.0.0/16', url: 'http://10.2.2.3/', is: true },
    { allow: '10.1.0.0/16', deny: '10.0.0.0/8', url: 'http://10.1.2.3/', is: false },
    { deny: 'Bad.Example', url: 'http://bad.example/', is: false },
    { deny: 'bad.example', url: 'http://BAD.example./', is: false },
    { deny: 'bad.example', url: 'http://good.bad.example/', is: true },
    { deny: 'bücher.example', url: 'http://xn--bcher-kva.example/', is: false },
    { deny: 'bad.example:81', url: 'http://bad.example/', is: true },
    { allow: 'bad.example', deny: 'bad.example', url: 'http://bad.example/', is: false },
  ])('allow "$allow", deny "$deny": $url $is', ({ allow, deny, url, is }) => {
    expect(mayReach(url, { allow, deny })).toBe(is)
  })

  test('an allowed host may have any address, unless that is denied', () => {
    const place = { hostname: 'crm.internal', port: 80, isConfigured: false }
    const judge = (allow: string, deny?: string) =>
      new EgressRules({ allow, deny, listenHost: '127.0.0.1' }).judgeAddresses(['10.1.2.3'], place)
    expect(judge('crm.internal')).toBeUndefined()
    expect(judge('crm.internal:80')).toBeUndefined()
    expect(judge('crm.internal:81')).toBeDefined()
    expect(judge('other.internal')).toBeDefined()
    expect(judge('crm.internal', '10.1.0.0/16')).toBeDefined()
  })

  test.each([
    '10.0.0.0/33',
    '10.0.0/8',
    '0x7f.1',
    '2130706433',
    'http://x.test',
    'x.test/8',
    'a b',
    '*.x.test',
    '1.1.1.1:0',
    'x.test:65536',
    '[x.test]:80',
    '[::1',
    'fd00::/129',
    '10.0.0.1-10.0.0.9',
    'x.test:http',
    'user@x.test',
  ])('"%s" is named in the error', (entry) => {
    expect(() => parseEgressList(`10.0.0.0/8, ${entry}`)).toThrow(`"${entry}" is not a CIDR or host`)
  })
})

describe('loopback', () => {
  test.each([
    { listenHost: '127.0.0.1', is: true },
    { listenHost: '127.0.0.2', is: true },
    { listenHost: '::1', is: true },
    { listenHost: 'localhost', is: true },
    { listenHost: '0.0.0.0', is: false },
    { listenHost: '::', is: false },
    { listenHost: '192.168.0.1', is: false },
    { listenHost: 'box.test', is: false },
  ])('is open to the configured origin while listening on $listenHost: $is', ({ listenHost, is }) => {
    for (const host of ['127.0.0.1', '127.9.9.9', '[::1]', '[::ffff:127.0.0.1]', '0x7f.1']) {
      expect(mayReach(`http://${host}/`, { listenHost }, true), host).toBe(is)
      expect(mayReach(`http://${host}/`, { listenHost }, false), host).toBe(false)
    }
  })

  test('stays closed for everything else that is private', () => {
    for (const host of ['10.0.0.1', '0.0.0.0', '169.254.169.254', '[fe80::1]', '[2002:7f00:1::]']) {
      expect(mayReach(`http://${host}/`, { listenHost: '127.0.0.1' }, true), host).toBe(false)
    }
  })

  test('is closed once ALLOW is set, and where DENY names it', () => {
    expect(mayReach('http://127.0.0.1/', { listenHost: '127.0.0.1', allow: '10.0.0.0/8' }, true)).toBe(false)
    expect(mayReach('http://127.0.0.1/', { listenHost: '127.0.0.1', allow: ' ' }, true)).toBe(true)
    expect(mayReach('http://127.0.0.1/', { listenHost: '127.0.0.1', deny: '127.0.0.0/8' }, true)).toBe(false)
  })
})
