import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { EgressRules, type Lookup, OutboundClient } from '@millrace/delivery'
import { systemClock } from '@millrace/std'
import { DEFAULT_LIMITS, Sandboxes } from '@millrace/transformations'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { TransformClients } from './transform-clients.ts'
import { TRANSFORM_CLIENT_BOUNDS, transformFetch } from './transform-fetch.ts'

// Promises of contracts/transformations.md §4 over real sockets and real sandboxes.

const endings: (() => unknown)[] = []
afterEach(async () => {
  await Promise.all(endings.splice(0).map((end) => end()))
})

interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  body: string
}

async function startServer(respond: (request: IncomingMessage, response: ServerResponse) => void) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request
    const seen: Received = { method, url, headers, body: '' }
    received.push(seen)
    for await (const chunk of request) seen.body += chunk
    respond(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  endings.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { received, port, origin: `http://127.0.0.1:${port}` }
}

/** By rules, where no names are given: a sandbox's process takes longer to start than most tests. */
const shared = new Map<string, { run: ReturnType<typeof start>['run']; end: () => Promise<void> }>()
afterAll(() => Promise.all([...shared.values()].map(({ end }) => end())))

type NamesUnderTest = Readonly<Record<string, readonly string[]>>

/** @param names addresses of names; the last one given stays. Other names do not resolve. */
function open(rules: { allow?: string; deny?: string } = {}, names?: NamesUnderTest) {
  if (names === undefined) return shared.getOrInsertComputed(JSON.stringify(rules), () => start(rules, {})).run
  const { run, end } = start(rules, names)
  endings.push(end)
  return run
}

function start(rules: { allow?: string; deny?: string }, names: NamesUnderTest) {
  const asked: Record<string, number> = {}
  const lookup: Lookup = (name, onFound) => {
    const addresses = names[name] ?? []
    asked[name] = (asked[name] ?? 0) + 1
    const address = addresses[Math.min(asked[name], addresses.length) - 1]
    const missing = Object.assign(new Error('none'), { code: 'ENOTFOUND' })
    setImmediate(() => (address === undefined ? onFound(missing, []) : onFound(null, [{ address, family: 4 }])))
    return undefined
  }
  const clients = new TransformClients(
    () =>
      new OutboundClient({
        ...TRANSFORM_CLIENT_BOUNDS,
        rules: new EgressRules({ allow: rules.allow, deny: rules.deny, listenHost: '127.0.0.1' }),
        clock: systemClock,
        lookup,
      }),
  )
  const fetch = transformFetch(clients, '0.1.0', systemClock)
  const logger = { info() {}, warn() {}, error() {} }
  const transformations = new Sandboxes({ limits: DEFAULT_LIMITS, fetch, clock: systemClock, logger })
  const end = () => transformations.close().then(() => clients.close())

  /** What an expression is worth in a transformation. */
  const run = async (expression: string): Promise<unknown> => {
    const caught = `(async () => (${expression}))().catch((error) => ({ message: error.message }))`
    const code = `export const transformEvent = async () => ({ value: await ${caught} })`
    const { results } = await transformations.run({
      key: 'd',
      steps: [{ transformationId: 't', versionId: code, language: 'javascript', code, libraries: [] }],
      events: [{ event: { type: 'track' }, metadata: {} }],
      mode: 'live',
      credentials: new Map(),
      captureLogs: false,
    })
    const [result] = results
    return result !== undefined && 'events' in result ? result.events[0]!['value'] : result
  }
  return { run, end }
}

const json = (body: string) => (_: IncomingMessage, response: ServerResponse) => {
  response.setHeader('content-type', 'application/json').end(body)
}
const redirect = (location: string) => (_: IncomingMessage, response: ServerResponse) => {
  response.writeHead(302, { location }).end()
}

describe('refused is, with nothing to be allowed,', () => {
  const refused: readonly [string, string][] = [
    ['', 'fetch url is required'],
    ['ftp://a.example/', 'invalid protocol, only http and https are supported'],
    ['file:///etc/passwd', 'invalid protocol, only http and https are supported'],
    ['http://127.0.0.1:PORT/', 'blocked request to non-public address: 127.0.0.1'],
    ['http://2130706433:PORT/', 'blocked request to non-public address: 127.0.0.1'],
    ['http://0x7f.1:PORT/', 'blocked request to non-public address: 127.0.0.1'],
    ['http://10.1.2.3/', 'blocked request to non-public address: 10.1.2.3'],
    ['http://169.254.169.254/latest/meta-data/', 'blocked request to non-public address: 169.254.169.254'],
    ['http://[::1]:PORT/', 'blocked request to non-public address: ::1'],
    ['http://[::ffff:127.0.0.1]:PORT/', 'blocked request to non-public address: ::ffff:7f00:1'],
    ['http://[fe80::1]/', 'blocked request to non-public address: fe80::1'],
    ['http://inner.example:PORT/', 'cannot use 127.0.0.1 as IP address for inner.example'],
    ['http://nowhere.example/', 'unable to resolve IP address for nowhere.example'],
    ['http://denied.example/', 'blocked host requests are not allowed'],
    ['http://', 'invalid URL'],
  ]

  test('whatever is not a public address by http', async () => {
    const server = await startServer(json('{}'))
    const worth = open({ deny: 'denied.example' }, { 'inner.example': ['127.0.0.1'] })
    for (const [url, message] of refused) {
      const given = JSON.stringify(url.replace('PORT', String(server.port)))
      expect(await worth(`await fetchV2(${given})`), url).toEqual({ message })
      expect(await worth(`await fetch(${given})`), url).toBe('ERROR')
    }
    expect(server.received).toEqual([])
  })

  test('a name that turns private after it was judged', async () => {
    const inner = await startServer(json('{"secret":1}'))
    // The first answer is fine, as far as it goes: nobody listens there. Each connection judges its own.
    const worth = open({ allow: '127.0.0.2' }, { 'rebinding.example': ['127.0.0.2', '127.0.0.1'] })
    const url = JSON.stringify(`http://rebinding.example:${inner.port}/`)
    expect(await worth(`await fetchV2(${url})`)).toEqual({ message: '[ECONNREFUSED] :: Connection refused' })
    const message = 'cannot use 127.0.0.1 as IP address for rebinding.example'
    expect(await worth(`await fetchV2(${url})`)).toEqual({ message })
    expect(inner.received).toEqual([])
  })

  test('a redirect to any of them', async () => {
    const inner = await startServer(json('{"secret":1}'))
    const places: [string, string][] = [
      [`http://127.0.0.1:${inner.port}/`, 'blocked request to non-public address: 127.0.0.1'],
      [`http://inner.example:${inner.port}/`, 'cannot use 127.0.0.1 as IP address for inner.example'],
      ['http://denied.example/', 'blocked host requests are not allowed'],
    ]
    for (const [place, message] of places) {
      const outer = await startServer(redirect(place))
      const names = { 'outer.example': ['127.0.0.1'], 'inner.example': ['127.0.0.1'] }
      const worth = open({ allow: 'outer.example', deny: 'denied.example' }, names)
      expect(await worth(`await fetchV2("http://outer.example:${outer.port}/")`)).toEqual({ message })
      expect(outer.received).toHaveLength(1)
    }
    expect(inner.received).toEqual([])
  })
})

describe('where it is allowed', () => {
  const allow = '127.0.0.1'

  test('fetch gives the parsed body, fetchV2 all of it', async () => {
    const { origin } = await startServer((_, response) => {
      response.writeHead(201, { 'content-type': 'application/json', 'x-a': ['1', '2'] }).end('{"a":[1]}')
    })
    const worth = open({ allow })
    expect(await worth(`await fetch("${origin}")`)).toEqual({ a: [1] })
    expect(await worth(`await fetchV2("${origin}/p?q")`)).toMatchObject({
      url: `${origin}/p?q`,
      status: 201,
      headers: { 'content-type': 'application/json', 'x-a': '1, 2' },
      body: { a: [1] },
    })
  })

  test('a request is sent as it was written, in our name', async () => {
    const { origin, received } = await startServer(json('1'))
    const headers = '{ "X-A": "b", "User-Agent": "other", Host: "a.example" }'
    await open({ allow })(`await fetch("${origin}/p", { method: "post", headers: ${headers}, body: { a: "é" } })`)
    expect(received[0]).toMatchObject({ method: 'POST', url: '/p', body: '{"a":"é"}' })
    expect(received[0]!.headers).toMatchObject({
      'x-a': 'b',
      'content-type': 'application/json',
      'user-agent': 'Millrace-Transform/0.1.0',
      host: origin.slice('http://'.length),
    })
  })

  test('headers that may be secret do not follow to another origin', async () => {
    const other = await startServer(json('1'))
    const first = await startServer(redirect(`${other.origin}/there`))
    const headers = '{ Authorization: "secret", "X-Api-Key": "secret", Accept: "application/json" }'
    expect(await open({ allow })(`await fetch("${first.origin}", { headers: ${headers} })`)).toBe(1)
    expect(first.received[0]!.headers).toMatchObject({ authorization: 'secret', 'x-api-key': 'secret' })
    expect(JSON.stringify(other.received[0]!.headers)).not.toContain('secret')
    expect(other.received[0]!.headers).toMatchObject({ accept: 'application/json' })
  })

  test.each([
    ['"CONNECT"', 'method CONNECT is not supported'],
    ['"GET / HTTP/1.1\\r\\nHost: a"', 'method GET / HTTP/1.1\r\nHOST is not supported'],
  ])('method %s is refused', async (method, message) => {
    const { origin, received } = await startServer(json('1'))
    expect(await open({ allow })(`await fetchV2("${origin}", { method: ${method} })`)).toEqual({ message })
    expect(received).toEqual([])
  })

  test('a header that would split the request is refused', async () => {
    const { origin, received } = await startServer(json('1'))
    const worth = open({ allow })
    expect(await worth(`await fetchV2("${origin}", { headers: { a: "b\\r\\nc: d" } })`)).toEqual({
      message: expect.stringMatching(/^\[EINVAL\]/),
    })
    expect(received).toEqual([])
  })

  test('1 MB is read and no more', async () => {
    const { origin } = await startServer((request, response) => {
      json(JSON.stringify('x'.repeat(Number(request.url!.slice(1)))))(request, response)
    })
    const worth = open({ allow })
    expect(await worth(`(await fetch("${origin}/${1024 * 1024 - 2}")).length`)).toBe(1024 * 1024 - 2)
    expect(await worth(`await fetchV2("${origin}/${1024 * 1024 - 1}")`)).toEqual({
      message: 'response is larger than 1 MB',
    })
  })

  test.each<[string, string | undefined]>([
    ['application/octet-stream', undefined],
    ['image/png', undefined],
    ['text/html', undefined],
    [undefined as never, undefined],
    ['application/json', 'gzip'],
    ['application/json', 'X-GZIP'],
    ['application/json', 'br'],
    ['application/json', 'deflate'],
    ['application/json', 'raw deflate'],
    ['application/json', 'zstd'],
    ['application/json', 'gzip, br'],
    ['application/json', 'identity'],
  ])('JSON that is called %s, in %s, is JSON', async (type, coding) => {
    const { origin } = await startServer((_, response) => {
      if (type !== undefined) response.setHeader('content-type', type)
      if (coding !== undefined) response.setHeader('content-encoding', coding.replace('raw ', ''))
      response.end(compressed('\ufeff{"a":"é"}', coding))
    })
    expect(await open({ allow })(`await fetch("${origin}")`)).toEqual({ a: 'é' })
    expect(await open({ allow })(`(await fetchV2("${origin}")).body`)).toEqual({ a: 'é' })
  })

  test.each<[string, Buffer, string]>([
    ['gzip', gzipSync(Buffer.alloc(50 * 1024 * 1024)), 'response is larger than 1 MB'],
    ['br', brotliCompressSync(Buffer.alloc(2 * 1024 * 1024)), 'response is larger than 1 MB'],
    ['gzip', gzipSync('{"a":1}').subarray(0, 15), 'response cannot be decompressed'],
    ['gzip', Buffer.from('{"a":1}'), 'response cannot be decompressed'],
    ['gzip, gzip, gzip', gzipSync(gzipSync(gzipSync('1'))), 'response cannot be decompressed'],
    ['constructor', Buffer.from('1'), 'response cannot be decompressed'],
  ])('an answer in %s that is not: %#', async (coding, bytes, message) => {
    const { origin } = await startServer((_, response) => {
      response.setHeader('content-encoding', coding).end(bytes)
    })
    expect(await open({ allow })(`await fetchV2("${origin}")`)).toEqual({ message })
  })

  test('an answer that takes longer than the code would wait is a failure, and its connection ends', async () => {
    const closed = Promise.withResolvers<void>()
    const { origin } = await startServer((request) => request.socket.once('close', () => closed.resolve()))
    expect(await open({ allow })(`await fetchV2("${origin}", { timeout: 30 })`)).toEqual({
      message: 'no answer within 30 ms',
    })
    await closed.promise
  })

  test('what refuses or resets is a failure', async () => {
    const { origin } = await startServer((request) => request.socket.destroy())
    const worth = open({ allow })
    expect(await worth(`await fetchV2("${origin}")`)).toEqual({ message: '[ECONNRESET] :: Connection reset by peer' })
    expect(await worth(`await fetch("${origin}")`)).toBe('ERROR')
  })

  test('an answer that loses its body is a failure', async () => {
    const { origin } = await startServer((_, response) => {
      response.writeHead(200, { 'content-length': 9 })
      response.write('half', () => response.socket!.destroySoon())
    })
    expect(await open({ allow })(`await fetchV2("${origin}")`)).toEqual({
      message: '[ECONNRESET] :: Connection reset by peer (in the body of an answer 200)',
    })
  })
})

function compressed(text: string, coding = ''): Buffer {
  const steps: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
    gzip: gzipSync,
    'x-gzip': gzipSync,
    br: brotliCompressSync,
    deflate: deflateSync,
    'raw deflate': deflateRawSync,
    zstd: zstdCompressSync,
  }
  const names = coding.toLowerCase().split(', ')
  return names.reduce<Buffer>((bytes, name) => steps[name]?.(bytes) ?? bytes, Buffer.from(text))
}
