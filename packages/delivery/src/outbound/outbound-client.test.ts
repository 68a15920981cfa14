import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { createServer as createTlsServer, setDefaultCACertificates } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { ManualClock } from '@millrace/std'
import { afterEach, describe, expect, test } from 'vitest'
import { BLOCKED_TEXT } from './failures.ts'
import { type OutboundResult, unlessLost } from './outbound-request.ts'
import {
  closeAll,
  essence,
  lookupOf,
  OPEN,
  openClient,
  type Receiver,
  requestTo,
  send,
  startReceiver,
  startTcp,
  whenDone,
} from './outbound-under-test.ts'
import { TEST_CERTIFICATE, TEST_KEY } from './test-certificate.ts'

afterEach(closeAll)

/** Its signature alone. */
const PICTURE = Buffer.from('89504e470d0a1a0a', 'hex')

describe('an answer', () => {
  test('has its status, headers in lower case and text', async () => {
    const receiver = await startReceiver(({ path }, response) => {
      const status = Number(path.slice(1))
      const headers = { 'Retry-After': '45', 'Content-Type': 'text/plain', 'X-Two': ['a', 'b'] }
      response.writeHead(status, headers).end(status === 204 ? undefined : `said ${status}`)
    })
    const client = openClient({ connections: 1 })
    for (const status of [200, 201, 301, 400, 401, 403, 404, 408, 410, 413, 429, 500, 502, 503, 504]) {
      const result = await send(client, `${receiver.origin}/${status}`)
      expect(result).toMatchObject({ kind: 'answer', status, text: `said ${status}`, isCut: false })
      expect(result).toMatchObject({ headers: { 'retry-after': '45', 'x-two': ['a', 'b'] } })
    }
    expect(await send(client, `${receiver.origin}/204`)).toMatchObject({ kind: 'answer', status: 204, text: '' })
    expect(receiver.sockets).toHaveLength(1)
  })

  test('belongs to the request as it was given', async () => {
    const receiver = await startReceiver()
    const headers = { 'content-type': 'application/json', 'user-agent': 'Millrace/1.2.3', 'X-A': 'b' }
    await send(openClient(), `${receiver.origin}/p/ä?q=1&r=%20#f`, { method: 'PATCH', headers, body: 'zażółć' })
    const [received] = receiver.received
    expect(received).toMatchObject({ method: 'PATCH', path: '/p/%C3%A4?q=1&r=%20', body: 'zażółć' })
    expect(received!.headers).toEqual({
      host: `127.0.0.1:${receiver.port}`,
      connection: 'keep-alive',
      'content-type': 'application/json',
      'user-agent': 'Millrace/1.2.3',
      'x-a': 'b',
      'content-length': '10',
    })
  })

  test.each<[what: string, bytes: Buffer, headers: Record<string, string>, shown: string]>([
    ['a text without a type', Buffer.from('zażółć\t1\r\n'), {}, 'zażółć\t1\r\n'],
    ['a text that says it is a picture', Buffer.from('{"a":1}'), { 'content-type': 'image/png' }, '{"a":1}'],
    ['nothing', Buffer.alloc(0), { 'content-type': 'image/png' }, ''],
    ['a picture', PICTURE, { 'content-type': 'image/png; q=1' }, '8 bytes of image/png'],
    ['a picture that says it is text', PICTURE, { 'content-type': 'text/plain' }, '8 bytes of text/plain'],
    ['bytes without a type', PICTURE, {}, '8 bytes of an unknown type'],
    ['a zero among letters', Buffer.from('a\0b'), {}, '3 bytes of an unknown type'],
    ['a character that does not end', Buffer.from('aä').subarray(0, 2), {}, '2 bytes of an unknown type'],
    [
      'what is compressed',
      gzipSync('text'),
      { 'content-encoding': 'gzip', 'content-type': 'text/plain' },
      '24 bytes of text/plain',
    ],
  ])('of %s shows what its bytes say', async (_, bytes, headers, shown) => {
    const receiver = await startReceiver((_, response) => response.writeHead(200, headers).end(bytes))
    const result = await send(openClient(), receiver.origin)
    expect(result).toMatchObject({ text: shown, isCut: false })
    expect((result as { bytes: Buffer }).bytes.equals(bytes)).toBe(true)
    expect(receiver.received[0]!.headers['accept-encoding']).toBeUndefined()
  })

  test.each([
    [{ 'content-length': '100000' }, '100000 bytes of image/png'],
    [{ 'transfer-encoding': 'chunked' }, 'more than 16384 bytes of image/png'],
  ])('of a picture that is cut, with %o, shows "%s"', async (headers, shown) => {
    const receiver = await startReceiver((_, response) => {
      response.writeHead(200, { 'content-type': 'image/png', ...headers }).end(Buffer.alloc(100_000, 0xff))
    })
    expect(await send(openClient(), receiver.origin)).toMatchObject({ text: shown, isCut: true })
  })

  test.each([
    { length: 16_383, text: 'x'.repeat(16_383) },
    { length: 16_384, text: 'x'.repeat(16_384) },
    { length: 16_385, text: 'x'.repeat(16_384) },
  ])('of $length bytes is kept up to 16 KB', async ({ length, text }) => {
    const receiver = await startReceiver((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(length))
    })
    expect(await send(openClient(), receiver.origin)).toMatchObject({ text, isCut: length > 16_384 })
  })

  test('is not cut within a character', async () => {
    const receiver = await startReceiver((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('aä€😀'.repeat(10))
    })
    const client = openClient({ maxAnswerBytes: 9 })
    expect(await send(client, receiver.origin)).toMatchObject({ text: 'aä€', isCut: true })
  })

  test.each([200, 500])('of 100 MB is read no further than needed and keeps its status %i', async (status) => {
    const piece = Buffer.alloc(1_000_000, 'x')
    let written = 0
    const closed = Promise.withResolvers<void>()
    const receiver = await startReceiver((_, response) => {
      response.writeHead(status, { 'content-type': 'text/plain', 'content-length': String(100 * piece.length) })
      response.on('close', closed.resolve)
      const pour = () => {
        while (written < 100 * piece.length) {
          written += piece.length
          if (!response.write(piece)) {
            response.once('drain', pour)
            return
          }
        }
      }
      pour()
    })
    const result = await send(openClient(), receiver.origin)
    expect(result).toMatchObject({ kind: 'answer', status, text: 'x'.repeat(16_384), isCut: true })
    await closed.promise
    // What the system's buffers took before the connection was closed.
    expect(written).toBeLessThan(30_000_000)
  })

  test('counts by its status when the rest of it is lost', async () => {
    const { origin } = await startTcp((socket) => {
      socket.once('data', () =>
        socket.end('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 9\r\n\r\nhalf'),
      )
    })
    const result = await send(openClient(), origin)
    expect(result).toMatchObject({ kind: 'answer', status: 200, text: 'half' })
    const text = '[ECONNRESET] :: Connection reset by peer (in the body of an answer 200)'
    expect(unlessLost(result)).toMatchObject({ kind: 'no_answer', status: 500, text, isTimeout: false })
  })

  test('may follow a provisional one', async () => {
    const { origin } = await startTcp((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 202 OK\r\n\r\n'))
    })
    expect(essence(await send(openClient(), origin))).toBe('answer 202')
  })
})

const RESET = 'no_answer 500 [ECONNRESET] :: Connection reset by peer'
const TIMED_OUT = 'no_answer 500 [ETIMEDOUT] :: Operation timed out'

describe('no answer', () => {
  test('a refused port', async () => {
    const { port } = await closedPort()
    const result = await send(openClient(), `http://127.0.0.1:${port}/`)
    expect(essence(result)).toBe('no_answer 500 [ECONNREFUSED] :: Connection refused')
    const everywhere = openClient({
      rules: { ...OPEN, allow: '127.0.0.1,::1' },
      lookup: lookupOf(['::1', '127.0.0.1']),
    })
    expect(essence(await send(everywhere, `http://hook.test:${port}/`))).toBe(essence(result))
  })

  test.each([
    ['reset', (socket: Socket) => socket.resetAndDestroy()],
    ['closed', (socket: Socket) => socket.end()],
    ['closed within the header', (socket: Socket) => socket.end('HTTP/1.1 200 O')],
    ['closed after 103', (socket: Socket) => socket.end('HTTP/1.1 103 Early Hints\r\n\r\n')],
  ])('a connection that is %s', async (_, end) => {
    const { origin } = await startTcp((socket) => {
      socket.once('data', () => end(socket))
    })
    const result = await send(openClient(), origin)
    expect(essence(result)).toBe(RESET)
    expect(result).toMatchObject({ isTimeout: false })
  })

  test.each([
    ['reset', (socket: Socket) => socket.resetAndDestroy()],
    ['closed', (socket: Socket) => socket.end()],
  ])('a connection that is %s as soon as it is made', async (_, end) => {
    const { origin } = await startTcp((socket) => end(socket))
    expect(essence(await send(openClient(), origin))).toBe(RESET)
    expect(essence(await send(openClient(), origin.replace('http', 'https')))).toBe(RESET)
  })

  test('what is not HTTP', async () => {
    const { origin } = await startTcp((socket) => {
      socket.once('data', () => socket.end('220 mail.test ESMTP\r\n'))
    })
    expect(essence(await send(openClient(), origin))).toMatch(
      /^no_answer 400 \[EPROTO\] :: Response does not match the HTTP/,
    )
  })

  test.each([
    ['ENOTFOUND', 'no_answer 400 [ENOTFOUND] :: DNS lookup failed'],
    ['EAI_AGAIN', 'no_answer 500 [EAI_AGAIN] :: Temporary failure in name resolution'],
    ['EAI_FAIL', 'no_answer 400 [EAI_FAIL] :: it failed'],
  ])('a name lookup that ends with %s', async (code, shown) => {
    const lookup = lookupOf(Object.assign(new Error('it failed'), { code }))
    expect(essence(await send(openClient({ lookup }), 'http://hook.test/'))).toBe(shown)
  })

  test('a name without addresses', async () => {
    const client = openClient({ lookup: lookupOf([]) })
    expect(essence(await send(client, 'http://hook.test/'))).toBe('no_answer 400 [ENOTFOUND] :: DNS lookup failed')
  })

  test('a call that takes 30 s', async () => {
    const clock = new ManualClock(0)
    const arrived = Promise.withResolvers<void>()
    const receiver = await startReceiver(() => arrived.resolve())
    const result = send(openClient({ clock }), receiver.origin)
    await arrived.promise
    const socketClosed = once(receiver.sockets[0]!, 'close')
    await clock.advance(29_999)
    expect(await settled(result)).toBe(false)
    await clock.advance(1)
    expect(essence(await result)).toBe(TIMED_OUT)
    expect(await result).toMatchObject({ isTimeout: true, durationMs: 30_000 })
    await socketClosed
  })

  test('redirects take their time from the same 30 s', async () => {
    const clock = new ManualClock(0)
    const arrived = Promise.withResolvers<void>()
    const receiver = await startReceiver(({ path }, response) => {
      if (path === '/end') arrived.resolve()
      else void clock.advance(20_000).then(() => response.writeHead(307, { location: '/end' }).end())
    })
    const result = send(openClient({ clock }), receiver.origin)
    await arrived.promise
    await clock.advance(10_000)
    expect(essence(await result)).toBe(TIMED_OUT)
  })

  test('a redirect that does not end', async () => {
    const receiver = await startReceiver((_, response) => {
      response.writeHead(307, { location: '/end' }).write('x')
    })
    expect(essence(await send(openClient({ callTimeoutMs: 200 }), receiver.origin))).toBe(TIMED_OUT)
    expect(receiver.received).toHaveLength(1)
  })

  test.each([
    { what: 'name', url: () => 'http://hook.test/', lookup: () => undefined },
    { what: 'TLS handshake', url: (port: number) => `https://127.0.0.1:${port}/`, lookup: lookupOf([]) },
  ])('a $what that takes 5 s', async ({ url, lookup }) => {
    const clock = new ManualClock(0)
    const begun = Promise.withResolvers<void>()
    const { port } = await startTcp((socket) => socket.once('data', () => begun.resolve()))
    const client = openClient({
      clock,
      lookup: (...given) => {
        begun.resolve()
        return lookup(...given)
      },
    })
    const result = send(client, url(port))
    await begun.promise
    await clock.advance(4_999)
    expect(await settled(result)).toBe(false)
    await clock.advance(1)
    expect(essence(await result)).toBe(TIMED_OUT)
    expect(await result).toMatchObject({ isTimeout: true, durationMs: 5_000 })
  })

  test('an error of the caller is not swallowed', async () => {
    const receiver = await startReceiver()
    const thrown = once(process, 'uncaughtExceptionMonitor')
    const listeners = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException').on('uncaughtException', () => {})
    whenDone(() => {
      process.removeAllListeners('uncaughtException')
      for (const listener of listeners) process.on('uncaughtException', listener)
    })
    openClient().send(requestTo(receiver.origin), () => {
      throw new Error('a bug')
    })
    expect((await thrown)[0]).toMatchObject({ message: 'a bug' })
  })
})

describe('TLS', () => {
  async function startTls(): Promise<{ port: number; names: unknown[] }> {
    const names: unknown[] = []
    const server = createTlsServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, (socket) => {
      names.push(socket.servername)
      socket.on('error', () => {})
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'))
    }).listen(0, '127.0.0.1')
    server.on('tlsClientError', () => {})
    await once(server, 'listening')
    whenDone(() => void server.close())
    return { port: (server.address() as AddressInfo).port, names }
  }

  test('an unknown signer, and a port without TLS, are no answer', async () => {
    const { port } = await startTls()
    const client = openClient({ lookup: lookupOf(['127.0.0.1']) })
    expect(essence(await send(client, `https://hook.test:${port}/`))).toBe(
      'no_answer 400 [DEPTH_ZERO_SELF_SIGNED_CERT] :: self-signed certificate',
    )
    const receiver = await startReceiver()
    expect(essence(await send(client, `https://hook.test:${receiver.port}/`))).toMatch(
      /^no_answer 400 \[ERR_SSL_\w+\] :: [a-z ]+$/,
    )
  })

  test('the certificate is checked for the name in the URL, not for the address or a Host header', async () => {
    setDefaultCACertificates([TEST_CERTIFICATE])
    const { port, names } = await startTls()
    const client = openClient({ lookup: lookupOf(['127.0.0.1']) })
    const headers = { host: 'hook.test' }
    expect(essence(await send(client, `https://hook.test:${port}/`))).toBe('answer 200')
    expect(essence(await send(client, `https://hook.test:${port}/`, { headers: { host: 'other.test' } }))).toBe(
      'answer 200',
    )
    expect(essence(await send(client, `https://other.test:${port}/`, { headers }))).toMatch(
      /^no_answer 400 \[ERR_TLS_CERT_ALTNAME_INVALID\] :: /,
    )
    expect(names.slice(0, 2)).toEqual(['hook.test', 'hook.test'])
  })
})

describe('what cannot be sent', () => {
  test.each([
    ['not a URL', {}, 'refused 400 [ERR_INVALID_URL] :: Invalid URL'],
    ['http://', {}, 'refused 400 [ERR_INVALID_URL] :: Invalid URL'],
    ['http://1.2.3.256/', {}, 'refused 400 [ERR_INVALID_URL] :: Invalid URL'],
    ['ftp://files.test/', {}, 'refused 400 [ERR_INVALID_PROTOCOL] :: only http and https are supported'],
    ['file:///etc/passwd', {}, 'refused 400 [ERR_INVALID_PROTOCOL] :: only http and https are supported'],
    ['', { headers: { 'x-a': 'b\r\nx-c: d' } }, 'refused 400 [EINVAL] :: invalid x-a header'],
    ['', { headers: { 'transfer-encoding': 'chunked' } }, 'refused 400 [EINVAL] :: invalid transfer-encoding header'],
    ['', { headers: { 'content-length': '3' } }, /^refused 400 \[EINVAL\] :: .*content-length/],
    ['', { method: 'GET /x HTTP/1.1\r\n' }, 'refused 400 [EINVAL] :: invalid request method'],
    ['', { method: 'CONNECT' }, /^refused 400 \[EINVAL\] :: /],
  ])('%s %j', async (url, request, shown) => {
    const receiver = await startReceiver()
    const client = openClient()
    let hasReturned = false
    const result = await new Promise<OutboundResult>((resolve) => {
      client.send({ ...requestTo(url || receiver.origin), ...request }, (result) => {
        expect(hasReturned).toBe(true)
        resolve(result)
      })
      hasReturned = true
    })
    expect(essence(result)).toEqual(typeof shown === 'string' ? shown : expect.stringMatching(shown))
    expect(receiver.received).toEqual([])
  })
})

describe('ending', () => {
  test('abort ends a call at once and closes its connection', async () => {
    const arrived = Promise.withResolvers<void>()
    const receiver = await startReceiver(() => arrived.resolve())
    const results: OutboundResult[] = []
    const call = openClient().send(requestTo(receiver.origin), (result) => results.push(result))
    await arrived.promise
    const closed = once(receiver.sockets[0]!, 'close')
    call.abort()
    expect(results).toEqual([{ kind: 'aborted' }])
    await closed
    call.abort()
    expect(results).toHaveLength(1)
  })

  test('a call that is aborted while it connects is not sent', async () => {
    const receiver = await startReceiver()
    const results: OutboundResult[] = []
    const client = openClient()
    client.send(requestTo(`${receiver.origin}/first`), (result) => results.push(result)).abort()
    expect(results).toEqual([{ kind: 'aborted' }])
    await send(client, `${receiver.origin}/second`)
    expect(receiver.received).toMatchObject([{ path: '/second' }])
  })

  test('close ends calls that wait for an answer, a connection or a name', async () => {
    const arrived = Promise.withResolvers<void>()
    const receiver = await startReceiver(() => arrived.resolve())
    const client = openClient({ connections: 1, lookup: () => undefined })
    const results = [receiver.origin, receiver.origin, 'http://hook.test/'].map((url) => send(client, url))
    await arrived.promise
    await client.close()
    expect(await Promise.all(results)).toEqual([{ kind: 'aborted' }, { kind: 'aborted' }, { kind: 'aborted' }])
    expect(await send(client, receiver.origin)).toEqual({ kind: 'aborted' })
    expect(receiver.received).toHaveLength(1)
  })
})

describe('connections', () => {
  test('that are being made end with the client', async () => {
    const begun = Promise.withResolvers<Socket>()
    const { port } = await startTcp((socket) => socket.once('data', () => begun.resolve(socket)))
    const client = openClient()
    const result = send(client, `https://127.0.0.1:${port}/`)
    const closed = once(await begun.promise, 'close')
    await client.close()
    expect(await result).toEqual({ kind: 'aborted' })
    await closed
  })

  test('are as many as allowed; further requests wait', async () => {
    const receiver = await startReceiver()
    const client = openClient({ connections: 2 })
    const results = await Promise.all(Array.from({ length: 20 }, () => send(client, receiver.origin)))
    expect(results.every(({ kind }) => kind === 'answer')).toBe(true)
    expect(receiver.sockets).toHaveLength(2)
  })

  test('are kept for a bounded number of origins, without losing a call', async () => {
    const receiver = await startReceiver()
    const client = openClient({ lookup: lookupOf(['127.0.0.1']) })
    const urls = Array.from({ length: 100 }, (_, i) => `http://hook-${i}.test:${receiver.port}/`)
    const results = await Promise.all(urls.map((url) => send(client, url)))
    expect(results.every(({ kind }) => kind === 'answer')).toBe(true)
    await Promise.all(receiver.sockets.slice(0, 36).map((socket) => socket.destroyed || once(socket, 'close')))
    expect(receiver.sockets.filter((socket) => !socket.destroyed)).toHaveLength(64)
  })
})

describe('a proxy', () => {
  async function startProxy(target: Receiver): Promise<{ proxy: string; asked: string[] }> {
    const asked: string[] = []
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      response.end('forwarded')
    }).listen(0, '127.0.0.1')
    server.on('connect', (request, socket: Socket) => {
      asked.push(`CONNECT ${request.url}`)
      const upstream = connect(target.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        upstream.pipe(socket).pipe(upstream)
      })
      for (const each of [upstream, socket]) each.on('error', () => {})
    })
    await once(server, 'listening')
    whenDone(() => {
      server.closeAllConnections()
      server.close()
    })
    return { proxy: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
  }

  test('gets what is allowed, and resolves the names', async () => {
    const receiver = await startReceiver()
    const { proxy, asked } = await startProxy(receiver)
    const rules = { allow: undefined, deny: 'bad.example', listenHost: '127.0.0.1' }
    const client = openClient({ proxy, rules })
    expect(await send(client, 'http://hook.test/x')).toMatchObject({ kind: 'answer', status: 200 })
    await send(client, 'https://hook.test/x')
    for (const url of ['http://bad.example/', 'https://bad.example/', 'http://10.0.0.1/', 'http://2130706433/']) {
      expect(essence(await send(client, url))).toBe(`refused 403 ${BLOCKED_TEXT}`)
    }
    expect(asked).toEqual(['POST http://hook.test/x', 'CONNECT hook.test:443'])
  })

  test('that is away is no answer, and worth another attempt', async () => {
    const { port } = await closedPort()
    const client = openClient({ proxy: `http://127.0.0.1:${port}` })
    for (const url of ['http://hook.test/', 'https://hook.test/']) {
      expect(essence(await send(client, url))).toBe('no_answer 500 [ECONNREFUSED] :: Connection refused')
    }
  })
})

async function closedPort(): Promise<{ port: number }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return { port }
}

/** Whether the promise is settled once everything that is ready has run. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false
  void promise.then(() => {
    isSettled = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  return isSettled
}
