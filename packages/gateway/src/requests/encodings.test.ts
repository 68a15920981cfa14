import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { basic, GatewayUnderTest, KEY } from '../gateway-under-test.ts'
import { contentEncoding } from './content-encoding.ts'

let under: GatewayUnderTest
beforeAll(async () => {
  under = await GatewayUnderTest.start()
})
afterAll(() => under[Symbol.asyncDispose]())

const BODY = JSON.stringify({ userId: 'u', messageId: 'm', properties: { text: 'zażółć '.repeat(300) } })
const BODIES: [encoding: string, body: Buffer][] = [
  ['identity', Buffer.from(BODY)],
  ['gzip', gzipSync(BODY)],
  ['GZip', gzipSync(BODY)],
  ['br', brotliCompressSync(BODY)],
  ['deflate', deflateSync(BODY)],
  // Some senders mean the bare stream.
  ['deflate', deflateRawSync(BODY)],
]

const send = (encoding: string, body: Buffer) =>
  under.send({ headers: { ...basic(KEY), 'Content-Encoding': encoding }, body })

test('an encoded body is stored like a plain one', async () => {
  for (const [encoding, body] of BODIES) {
    const from = under.end()
    expect([encoding, (await send(encoding, body)).text]).toEqual([encoding, 'OK'])
    const { records } = await under.log.read(0, 'live', from, 1)
    expect(Buffer.from(records[0]!.body).toString()).toBe(BODY)
  }
})

test('a stream that is cut anywhere, or followed by anything, is refused', async () => {
  const from = under.end()
  for (const [encoding, body] of BODIES.slice(1)) {
    const cuts = [1, 2, Math.floor(body.length / 2), body.length - 1].map((length) => body.subarray(0, length))
    const tails = ['x', '\0', '{}'].map((tail) => Buffer.concat([body, Buffer.from(tail)]))
    const twice = Buffer.concat([body, body])
    for (const broken of [...cuts, ...tails, twice]) {
      const { status, text } = await send(encoding, broken)
      expect([encoding, broken.length, status, text]).toEqual([
        encoding,
        broken.length,
        400,
        'Failed to read body from request',
      ])
    }
  }
  expect(await under.found(from)).toEqual([])
})

test('many at a time are all unpacked, large ones and broken ones among them', async () => {
  const large = gzipSync(' '.repeat(4_096_001))
  const small = gzipSync('{"userId":"u"}')
  const bodies = Array.from({ length: 60 }, (_, i) => [large, small, small.subarray(0, 10)][i % 3]!)
  const answers = await Promise.all(bodies.map((body) => send('gzip', body)))
  expect(answers.map(({ status }) => status)).toEqual(bodies.map((_, i) => [413, 200, 400][i % 3]))
})

test('other encodings, and several in one request, are not taken', () => {
  for (const header of ['zstd', 'compress', 'gzip, br', 'gzip,gzip', 'identity, gzip', 'utf-8', '*', 'gzip;q=1']) {
    expect([header, contentEncoding(header)]).toEqual([header, undefined])
  }
  expect(contentEncoding(undefined)).toBe('identity')
})
