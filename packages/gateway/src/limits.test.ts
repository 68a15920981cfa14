import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { brotliCompressSync, constants, deflateRawSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { basic, GatewayUnderTest, KEY, LIMITS } from './gateway-under-test.ts'

let under: GatewayUnderTest
beforeAll(async () => {
  under = await GatewayUnderTest.start()
})
afterAll(() => under[Symbol.asyncDispose]())

/** A batch body of exactly so many bytes, of events of about 8 KB. */
function batchOf(bytes: number): string {
  const event = `{"type":"track","userId":"u","text":"${'x'.repeat(8_000)}"}`
  const start = '{"batch":['
  const count = Math.floor((bytes - start.length - 100) / (event.length + 1))
  const head = start + Array.from({ length: count }, () => event).join(',')
  return `${head.padEnd(bytes - 2)}]}`
}

/** An event of exactly so many bytes. */
function eventOf(bytes: number): string {
  const event = '{"type":"track","userId":"u","text":""}'
  return `${event.slice(0, -2)}${'é'.repeat(100)}${'x'.repeat(bytes - event.length - 200)}"}`
}

/** An event nested so many levels. */
function nested(levels: number, open = '{"a":', close = '}'): string {
  return `{"type":"track","userId":"u","deep":${open.repeat(levels - 2)}${open[0]}${close}${close.repeat(levels - 2)}}`
}

async function check(expected: [number, string, index?: string], sent: Parameters<GatewayUnderTest['send']>[0]) {
  const from = under.end()
  const { status, text, headers } = await under.send(sent)
  const index = headers['x-millrace-event-index']
  expect([status, text, ...(index === undefined ? [] : [index])]).toEqual(expected)
  expect((await under.found(from)).length > 0).toBe(status === 200)
}

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** Bytes in use of the heap and of buffers outside it. */
function usedMemory(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const OK: [number, string] = [200, 'OK']
const BODY_SIZE: [number, string] = [413, 'Request size exceeds max limit']
const gzip = { ...basic(KEY), 'Content-Encoding': 'gzip' }
const chunked = { ...basic(KEY), 'Transfer-Encoding': 'chunked' }

describe('size of the body', () => {
  const fits = batchOf(4_096_000)
  const exceeds = `${fits} `

  test('4,096,000 bytes pass and one more does not: announced, in chunks, and after decoding', async () => {
    expect([fits.length, exceeds.length]).toEqual([4_096_000, 4_096_001])
    for (const headers of [basic(KEY), chunked]) {
      await check(OK, { path: '/v1/batch', headers, body: fits })
      await check(BODY_SIZE, { path: '/v1/batch', headers, body: exceeds })
    }
    await check(OK, { path: '/v1/batch', headers: gzip, body: gzipSync(fits) })
    await check(BODY_SIZE, { path: '/v1/batch', headers: gzip, body: gzipSync(exceeds) })
  })

  test('an announced size over the limit is refused at once, without the body', async () => {
    const { socket, answer } = under.connect()
    const auth = basic(KEY)['Authorization']
    socket.write(`POST /v1/track HTTP/1.1\r\nHost: x\r\nAuthorization: ${auth}\r\nContent-Length: 4096001\r\n\r\n`)
    expect(await answer).toMatch(/^HTTP\/1\.1 413 .*Request size exceeds max limit$/s)
  })

  test('a client that never stops sending is answered and then cut off', async () => {
    const { socket, answer } = under.connect()
    const auth = basic(KEY)['Authorization']
    socket.write(`POST /v1/track HTTP/1.1\r\nHost: x\r\nAuthorization: ${auth}\r\nTransfer-Encoding: chunked\r\n\r\n`)
    const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, 0x20), Buffer.from('\r\n')])
    const goOn = () => {
      while (!socket.destroyed && socket.write(chunk));
    }
    socket.on('drain', goOn)
    goOn()
    expect(await answer).toMatch(/^HTTP\/1\.1 413 .*Request size exceeds max limit/s)
  })

  test('bombs of a gigabyte are refused without unpacking them', async () => {
    const megabyte = deflateRawSync(Buffer.alloc(1_000_000), { finishFlush: constants.Z_FULL_FLUSH })
    const gigabyte = Buffer.concat(Array.from({ length: 1_000 }, () => megabyte))
    const gzipHeader = Buffer.from('1f8b0800000000000003', 'hex')
    const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
    const bombs = {
      gzip: Buffer.concat([gzipHeader, gigabyte]),
      deflate: gigabyte,
      br: brotliCompressSync(Buffer.alloc(100_000_000), quick),
    }
    const before = process.memoryUsage().rss
    for (const [name, body] of Object.entries(bombs)) {
      expect(body.length).toBeLessThan(2_000_000)
      await check(BODY_SIZE, { headers: { ...basic(KEY), 'Content-Encoding': name }, body })
    }
    // Client and server share this process, so this is coarser than what the contract says of the server alone.
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000)
  })

  test('a body of one-byte chunks needs little more memory than its bytes', async () => {
    const connection = once(under.server, 'connection')
    const { socket } = under.connect()
    const [received] = (await connection) as [Socket]
    const auth = basic(KEY)['Authorization']
    const before = usedMemory()
    socket.write(`POST /v1/track HTTP/1.1\r\nHost: x\r\nAuthorization: ${auth}\r\nTransfer-Encoding: chunked\r\n\r\n`)
    for (let sent = 0; sent < 400_000; sent += 10_000) socket.write('1\r\n \r\n'.repeat(10_000))
    await expect.poll(() => received.bytesRead, { timeout: 10_000 }).toBe(socket.bytesWritten)
    expect(usedMemory() - before).toBeLessThan(20_000_000)
    socket.destroy()
  })
})

describe('size of an event', () => {
  const fits = eventOf(32_768)
  const exceeds = eventOf(32_769)
  const small = '{"type":"page","userId":"u"}'
  const tooLarge: [number, string] = [413, 'Event size exceeds max limit']

  test('32,768 bytes pass and one more does not, alone and in a batch', async () => {
    expect([Buffer.byteLength(fits), Buffer.byteLength(exceeds)]).toEqual([32_768, 32_769])
    await check(OK, { body: fits })
    await check(OK, { body: ` ${fits}\n` })
    await check(tooLarge, { body: exceeds })
    const batch = (event: string) => `{ "sentAt" : "x", "batch" : [ ${small} ,\t${event} , ${small} ] , "z": [1, "]"] }`
    await check(OK, { path: '/v1/batch', body: batch(fits) })
    await check([...tooLarge, '1'], { path: '/v1/batch', body: batch(exceeds) })
    // Many small events, quotes and brackets in texts, and a second `batch`: only the last one counts.
    const tricky = `{"type":"track","userId":"u","text":"\\"]},{[${'\\\\'.repeat(500)}"}`
    const many = Array.from({ length: 60 }, () => tricky).join(',')
    await check(OK, { path: '/v1/batch', body: `{"batch":[${exceeds}],"b\\u0061tch":[${many}]}` })
    await check([...tooLarge, '60'], { path: '/v1/batch', body: `{"batch":[1],"b\\u0061tch":[${many},${exceeds}]}` })
  })

  test('what the envelope gives to an event counts with it', async () => {
    const context = (bytes: number) => `{"pad":"${'x'.repeat(bytes - 10)}"}`
    const own = (bytes: number) => eventOf(bytes)
    const body = (given: string, ...events: string[]) => `{${given},"batch":[${events}], "z": {"a": "}"}}`
    const [half, rest] = [context(16_000), own(16_768)]
    expect([Buffer.byteLength(half), Buffer.byteLength(rest)]).toEqual([16_000, 16_768])
    await check(OK, { path: '/v1/batch', body: body(`"context" : ${half} `, small, rest) })
    await check([...tooLarge, '1'], { path: '/v1/batch', body: body(`"context":${half}`, small, own(16_769)) })
    await check([...tooLarge, '0'], { path: '/v1/batch', body: body(`"integrations":${half}`, own(16_769)) })
    await check([...tooLarge, '0'], {
      path: '/v1/batch',
      body: body(`"context":${half},"integrations":${half}`, own(800)),
    })
    // Of two members of one name the last one counts, however the name is written; all others are ignored.
    await check(OK, { path: '/v1/batch', body: body(`"context":${context(32_000)},"c\u006fntext":{}`, own(32_000)) })
    await check([...tooLarge, '0'], {
      path: '/v1/batch',
      body: body(`"context":{},"c\u006fntext":${half}`, own(32_000)),
    })
    await check(OK, { path: '/v1/batch', body: body(`"traits":${half}`, own(32_000)) })
  })

  test('an envelope cannot multiply: what it would add to events together is limited', async () => {
    const members = Array.from({ length: 60 }, (_, i) => `"m${i}":${i}`)
    const batch = (event: string) => `{"context":{"app":{${members}}},"batch":[${`${event},`.repeat(9_999)}${event}]}`
    const withOwn = '{"type":"page","userId":"u","context":{"app":{"own":1}}}'
    await check([413, 'Request size exceeds max limit'], { path: '/v1/batch', body: batch(withOwn) })
    // What is shared costs nothing.
    await check(OK, { path: '/v1/batch', body: batch('{"type":"page","userId":"u","context":{"own":1}}') })
    await check(OK, { path: '/v1/batch', body: batch(small) })
  })

  test('the setting changes the limit, and 0 takes it away', async () => {
    for (const [maxEventBytes, bytes, status] of [
      [1_000, 1_000, 200],
      [1_000, 1_001, 413],
      [100_000, 100_000, 200],
      [100_000, 100_001, 413],
      [0, 1_000_000, 200],
    ] as const) {
      await using other = await GatewayUnderTest.start({ limits: { maxEventBytes } })
      const alone = await other.send({ body: eventOf(bytes) })
      const inBatch = await other.send({ path: '/v1/batch', body: `{"batch":[${eventOf(bytes)}]}` })
      expect([maxEventBytes, bytes, alone.status, inBatch.status]).toEqual([maxEventBytes, bytes, status, status])
    }
  })
})

describe('nesting', () => {
  const tooDeep: [number, string] = [400, 'Event nesting exceeds 200 levels']
  const padding = ' '.repeat(40_000)
  const small = '{"type":"page","userId":"u"}'

  test('200 levels pass and 201 do not, in objects and arrays, small bodies and large', async () => {
    for (const [open, close] of [
      ['{"a":', '}'],
      ['[', ']'],
    ] as const) {
      for (const pad of ['', padding]) {
        await check(OK, { body: nested(200, open, close) + pad })
        await check(tooDeep, { body: nested(201, open, close) + pad })
        const batch = (...events: string[]) => `{"batch":[${events}]${pad}}`
        await check(OK, { path: '/v1/batch', body: batch(small, nested(200, open, close)) })
        for (const index of [0, 1, 2]) {
          const events = [small, small, small].with(index, nested(201, open, close))
          await check([...tooDeep, String(index)], { path: '/v1/batch', body: batch(...events) })
        }
      }
    }
  })

  test('the envelope gives an event no more levels than it may have', async () => {
    const context = (levels: number) => nested(levels, '{"a":', '}')
    for (const pad of ['', padding]) {
      await check(OK, { path: '/v1/batch', body: `{"context":${context(199)},"batch":[${small}]${pad}}` })
      await check(tooDeep, { path: '/v1/batch', body: `{"context":${context(200)},"batch":[${small}]${pad}}` })
    }
  })

  test('what is too deep outside the batch names no element', async () => {
    const deep = '['.repeat(250) + ']'.repeat(250)
    for (const pad of ['', padding]) {
      await check(tooDeep, { path: '/v1/batch', body: `{"x":${deep},"batch":[${small}]${pad}}` })
      await check(tooDeep, { path: '/v1/batch', body: `{"batch":[${small}],"x":${deep}${pad}}` })
    }
  })

  test('100,000 opening brackets are refused while other requests are answered', async () => {
    for (const body of ['['.repeat(100_000), '{"a":'.repeat(100_000)]) {
      const others = Array.from({ length: 20 }, () => under.send({ body: '{"userId":"u"}' }))
      const { status, text } = await under.send({ body })
      expect([status, text]).toEqual(tooDeep)
      for (const other of await Promise.all(others)) expect(other.status).toBe(200)
    }
  })
})

test('one event more than a batch or a backfill may hold is refused', async () => {
  const event = '{"type":"track","userId":"u"}'
  for (const [path, most] of [
    ['/v1/batch', LIMITS.maxBatchEvents],
    ['/v1/backfill', 5 * LIMITS.maxBatchEvents],
  ] as const) {
    const body = (events: number) => `{"batch":[${`${event},`.repeat(events - 1)}${event}]}`
    await check(OK, { path, body: body(most) })
    await check([413, 'Batch has too many events'], { path, body: body(most + 1) })
  }
})
