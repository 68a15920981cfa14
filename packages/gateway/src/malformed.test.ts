import { randomInt } from 'node:crypto'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { randomFrom } from '@millrace/std'
import { expect, test } from 'vitest'
import { basic, DISABLED_KEY, GatewayUnderTest, KEY } from './gateway-under-test.ts'

const REQUESTS = 4_000
const AT_A_TIME = 40

/** Requests that are wrong in some way or other, a few of them by chance in none. */
class Malformer {
  readonly #next: () => number

  constructor(seed: number) {
    this.#next = randomFrom(seed)
  }

  request(): Buffer {
    const kind = this.#below(40)
    if (kind === 0) return this.#bytes(this.#below(2_000))
    if (kind === 1) return Buffer.from(`POST /v1/track HTTP/1.1\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`)
    const { head, body } = this.#parts()
    const whole = Buffer.concat([Buffer.from(head, 'latin1'), body])
    if (kind === 2) return whole.subarray(0, this.#below(whole.length))
    return kind === 3 ? this.#spoiled(whole) : whole
  }

  #parts(): { head: string; body: Buffer } {
    const method = this.#mostly('POST', ['GET', 'PUT', 'HEAD', 'OPTIONS', 'BREW'])
    const path = this.#mostly('/v1/track', [
      '/v1/p',
      '/v1/batch',
      '/v1/import',
      '/v1/backfill',
      '/s/v1/batch',
      '/pixel/v1/track',
      '/v1/x',
    ])
    const query = this.#mostly('', [`?writeKey=${KEY}`, '?writeKey', '?%ff%', `?writeKey=${KEY}&userId=u&a.b..c=%zz`])
    const { encoding, body } = this.#encoded(this.#body())
    const headers = [
      this.#mostly(`Authorization: ${basic(this.#mostly(KEY, [DISABLED_KEY, 'x', '']))['Authorization']}`, ['']),
      this.#mostly('', [`Authorization: ${this.#text(30)}`, 'Authorization: Basic']),
      encoding === '' ? '' : `Content-Encoding: ${encoding}`,
      this.#one(['', '', 'Origin: null', `Origin: ${this.#text(20)}`]),
      this.#one(['', '', 'X-Forwarded-For: [::1', `X-Forwarded-For: ${this.#text(300)}`, this.#zoned()]),
      this.#one(['', '', `X-Request-Id: ${this.#text(9)}`]),
      this.#one(['', 'Expect: 100-continue', 'Connection: close']),
      this.#length(body.length),
    ]
    const written = headers.filter((header) => header !== '').join('\r\n')
    return { head: `${method} ${path}${query} HTTP/1.1\r\nHost: x\r\n${written}\r\n\r\n`, body }
  }

  /** An address, and one of any length. */
  #zoned(): string {
    return `X-Forwarded-For: fe80::1%${'z'.repeat(this.#below(600))}`
  }

  #length(length: number): string {
    const right = `Content-Length: ${length}`
    const wrong = [length + 1, Math.max(0, length - 1), 4_096_001, '-1', 'many', '1e3'].map(
      (n) => `Content-Length: ${n}`,
    )
    return this.#mostly(right, ['Transfer-Encoding: chunked', '', ...wrong])
  }

  #body(): Buffer {
    const kind = this.#below(12)
    if (kind === 0) return this.#bytes(this.#below(500))
    if (kind === 1) return Buffer.from('[{"a":'.repeat(this.#below(12_000)))
    const value =
      this.#below(2) === 0 ? this.#event() : { batch: this.#list(() => this.#event()), sentAt: this.#value(2) }
    const text = Buffer.from(JSON.stringify(value))
    if (kind === 2) return text.subarray(0, this.#below(text.length))
    return kind === 3 ? this.#spoiled(text) : text
  }

  #event(): object {
    return {
      type: this.#mostly<unknown>('track', ['page', 'Track', 7, null]),
      userId: this.#mostly<unknown>('u', [0, '', ' ', '\u0000', true, this.#value(2)]),
      messageId: this.#value(1),
      [this.#one(['__proto__', 'writeKey', 'anonymousId', 'receivedAt', 'toString', 'request_ip', 'context'])]:
        this.#value(5),
    }
  }

  #value(depth: number): unknown {
    const kind = this.#below(depth > 0 ? 9 : 6)
    const simple = [null, true, -0, 1e300, '', `2026-03-04T09:15:27.120Z${this.#text(3)}`]
    if (kind < 6) return simple[kind]
    if (kind === 6) return this.#list(() => this.#value(depth - 1))
    return Object.fromEntries(this.#list(() => [this.#text(5), this.#value(depth - 1)] as const))
  }

  #encoded(body: Buffer): { encoding: string; body: Buffer } {
    const encoding = this.#mostly('', ['gzip', 'gzip', 'br', 'deflate', 'zstd', 'gzip, br', this.#text(5)])
    const encode = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync }[encoding]
    if (encode === undefined || this.#below(4) === 0) return { encoding, body }
    const encoded = encode(body)
    return { encoding, body: this.#below(2) === 0 ? encoded : this.#spoiled(encoded) }
  }

  #spoiled(bytes: Buffer): Buffer {
    const spoiled = Buffer.from(bytes)
    for (let i = this.#below(4); i >= 0 && spoiled.length > 0; i--)
      spoiled[this.#below(spoiled.length)] = this.#below(256)
    return spoiled
  }

  #list<T>(make: () => T): T[] {
    return Array.from({ length: this.#below(5) }, make)
  }

  #bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.#below(256)))
  }

  /** Characters that a header may hold. */
  #text(length: number): string {
    return Array.from({ length: this.#below(length) }, () => String.fromCharCode(32 + this.#below(95))).join('')
  }

  /** One fault or two in a request let it come further than ten of them. */
  #mostly<T>(usual: T, others: readonly T[]): T {
    return this.#below(4) === 0 ? this.#one(others) : usual
  }

  #one<T>(choices: readonly T[]): T {
    return choices[this.#below(choices.length)]!
  }

  #below(limit: number): number {
    return Math.floor(this.#next() * limit)
  }
}

/** Statuses of everything that came back on one connection. */
async function statusesOf(under: GatewayUnderTest, request: Buffer): Promise<number[]> {
  const { socket, answer } = under.connect()
  socket.end(request)
  const statuses = [...(await answer).matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]))
  return statuses.filter((status) => status !== 100)
}

const seed = randomInt(2 ** 31)
test(`${REQUESTS} malformed requests, seed ${seed}: none gets a 5xx, others are served, what is stored can be read`, async () => {
  await using under = await GatewayUnderTest.start({ limits: { maxBodyBytes: 100_000 } })
  const malformer = new Malformer(seed)
  const counts = new Map<number, number>()
  for (let sent = 0; sent < REQUESTS; sent += AT_A_TIME) {
    const requests = Array.from({ length: AT_A_TIME }, () => malformer.request())
    const good = under.send({ body: '{"userId":"well formed"}' })
    const answers = await Promise.all(requests.map((request) => statusesOf(under, request)))
    for (const [i, statuses] of answers.entries()) {
      for (const status of statuses) {
        counts.set(status, (counts.get(status) ?? 0) + 1)
        expect(status, `seed ${seed}, request ${sent + i}: ${requests[i]!.toString('latin1')}`).toBeLessThan(500)
      }
    }
    expect((await good).status).toBe(200)
  }
  expect(under.faults).toEqual([])
  while (under.gateway.requestsInProgress > 0) await new Promise((resolve) => setImmediate(resolve))
  const found = await under.found()
  expect(found.length).toBeGreaterThan(REQUESTS / AT_A_TIME)
  for (const { event } of found) expect(event.userId || event.anonymousId).toEqual(expect.stringMatching(/./))
  // The mixture is worth its time only if it reaches all kinds of answers.
  expect([...counts.keys()]).toEqual(expect.arrayContaining([200, 204, 400, 401, 404, 405, 413, 415, 431]))
})
