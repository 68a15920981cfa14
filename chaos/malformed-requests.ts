import { gzipSync } from 'node:zlib'

type Random = () => number
/** Bytes that no client of ours would send, on a connection of their own. */
type Kind = (random: Random, writeKey: string) => Buffer | string

const PATHS = [
  '/v1/track',
  '/v1/batch',
  '/v1/identify',
  '/v1/import',
  '/v1/backfill',
  '/beacon/v1/batch',
  '/v2/sources',
  '/v2/events/%',
  '/v0/testSource/x',
]
const METHODS = ['POST', 'GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'BREW', 'post']
const VALUES = ['null', '5', '""', '[]', '{}', 'true', '-1e999', '"\\ud800"', '[[[]]]', '{"a":{"a":{}}}', '"\\u0000"']
const MEMBERS = [
  'type',
  'userId',
  'anonymousId',
  'messageId',
  'event',
  'properties',
  'context',
  'traits',
  'integrations',
  'batch',
  'sentAt',
  '__proto__',
]

const KINDS: Readonly<Record<string, Kind>> = {
  'random bytes': (random) => bytes(random, 1 + 1_000 * random()),
  'random bytes as a body': (random, key) => request(random, key, bytes(random, 2_000 * random())),
  'cut JSON': (random, key) => {
    const text = event(random)
    return request(random, key, text.slice(0, Math.floor(random() * text.length)))
  },
  'nested JSON': (random, key) => {
    const depth = Math.floor(10 ** (1 + 4 * random()))
    const [open, close] = pick(random, [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const)
    return request(random, key, random() < 0.5 ? open.repeat(depth) : `${open.repeat(depth)}1${close.repeat(depth)}`)
  },
  'bad gzip': (random, key) => {
    const zipped = gzipSync(event(random))
    zipped[Math.floor(random() * zipped.length)]! ^= 1 + Math.floor(255 * random())
    const cut = zipped.subarray(0, Math.ceil(random() * zipped.length))
    return request(
      random,
      key,
      cut,
      `Content-Encoding: ${pick(random, ['gzip', 'br', 'deflate', 'zstd', 'gzip, gzip'])}`,
    )
  },
  'wrong types': (random, key) => {
    const members = Array.from({ length: 1 + 6 * random() }, () => `"${pick(random, MEMBERS)}":${pick(random, VALUES)}`)
    const one = `{${members.join(',')}}`
    return request(random, key, pick(random, [one, `{"batch":[${one},${one}]}`, `[${one}]`, pick(random, VALUES)]))
  },
  'huge headers': (random, key) => request(random, key, '{}', `X-Filling: ${'x'.repeat(1_000 + 100_000 * random())}`),
  'many headers': (random, key) =>
    request(random, key, '{}', ...Array.from({ length: 3_000 * random() }, (_, i) => `X-${i}: 1`)),
  'contradicting lengths': (random, key) =>
    request(
      random,
      key,
      '{}',
      pick(random, ['Content-Length: 7', 'Content-Length: -1', 'Transfer-Encoding: chunked', 'Transfer-Encoding: x']),
    ),
  'bad chunks': (random) =>
    `POST /v1/batch HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${pick(random, ['zz', 'ffffffffffffffff', '5\r\nab', '-1'])}\r\n\r\n`,
  'bad first lines': (random) =>
    `${pick(random, METHODS)} ${pick(random, ['', '*', '//', '/%zz', `/${'a'.repeat(20_000 * random())}`, 'http://[::1', '/v2/../v2'])} HTTP/${pick(random, ['1.1', '1.0', '9.9', '2.0'])}\r\nHost: x\r\n\r\n`,
  'bad credentials': (random) =>
    `POST ${pick(random, PATHS)} HTTP/1.1\r\nHost: x\r\nAuthorization: ${pick(random, ['Basic', 'Basic ====', `Bearer ${'x'.repeat(5_000 * random())}`, 'Digest a=b', `Basic ${btoa('::::')}`])}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
}

const NAMES = Object.keys(KINDS)

/** One malformed request of some kind. */
export function malformed(
  random: Random,
  writeKey: string,
): { readonly kind: string; readonly bytes: Buffer | string } {
  const kind = pick(random, NAMES)
  return { kind, bytes: KINDS[kind]!(random, writeKey) }
}

function request(random: Random, writeKey: string, body: Buffer | string, ...headers: string[]): Buffer {
  const head = [
    `${random() < 0.9 ? 'POST' : pick(random, METHODS)} ${pick(random, PATHS)} HTTP/1.1`,
    'Host: x',
    `Authorization: Basic ${btoa(`${writeKey}:`)}`,
    'Connection: close',
    ...headers,
    ...(headers.some((each) => /^(Content-Length|Transfer-Encoding)/.test(each))
      ? []
      : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), Buffer.from(body)])
}

function event(random: Random): string {
  const one = {
    type: 'track',
    userId: `u-${Math.floor(9 * random())}`,
    event: 'Seat "Reserved"',
    properties: { hall: ['B', 7, null] },
  }
  return JSON.stringify(random() < 0.5 ? one : { batch: [one, one] })
}

/** Seeded, unlike those of the operating system. */
function bytes(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => Math.floor(256 * random())))
}

function pick<T>(random: Random, among: readonly T[]): T {
  return among[Math.floor(random() * among.length)]!
}
