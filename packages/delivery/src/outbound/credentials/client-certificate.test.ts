import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { ClientCertificate } from '@millrace/protocol'
import { afterEach, describe, expect, test } from 'vitest'
import {
  CA_CERTIFICATE,
  CLIENT_CERTIFICATE,
  CLIENT_KEY,
  ENCRYPTED_KEY,
  OTHER_CERTIFICATE,
  OTHER_KEY,
  SERVER_CERTIFICATE,
  SERVER_KEY,
} from '../client-certificate-under-test.ts'
import type { OutboundClient } from '../outbound-client.ts'
import { closeAll, essence, lookupOf, openClient, send, whenDone } from '../outbound-under-test.ts'
import { outboundCredentials } from './outbound-credentials.ts'

afterEach(closeAll)

interface Arrival {
  readonly client: string | undefined
  readonly socket: Socket
}

/** A server that names the client of each request; it requires a certificate of the test authority, or takes none. */
async function startTls(requiresCertificate = true, location?: string) {
  const arrivals: Arrival[] = []
  const sockets = new Set<Socket>()
  const server = createServer({
    key: SERVER_KEY,
    cert: SERVER_CERTIFICATE,
    ca: CA_CERTIFICATE,
    requestCert: true,
    rejectUnauthorized: requiresCertificate,
  })
  // Longer than a test: no connection ends because the machine is busy.
  server.keepAliveTimeout = 60_000
  server.on('request', (request, response) => {
    const socket = request.socket as TLSSocket
    request.resume()
    arrivals.push({ client: socket.getPeerCertificate().subject?.CN as string | undefined, socket })
    response.writeHead(location === undefined ? 200 : 307, location === undefined ? {} : { location }).end()
  })
  server.on('secureConnection', (socket) => sockets.add(socket))
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  whenDone(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, url: `https://127.0.0.1:${port}/in`, arrivals, sockets }
}

const MILLRACE: ClientCertificate = {
  identity: { certificate: CLIENT_CERTIFICATE, key: CLIENT_KEY },
  authorities: CA_CERTIFICATE,
}
const OTHER: ClientCertificate = {
  identity: { certificate: OTHER_CERTIFICATE, key: OTHER_KEY },
  authorities: CA_CERTIFICATE,
}

async function call(client: OutboundClient, url: string, certificate: ClientCertificate): Promise<string> {
  const credentials = outboundCredentials({ grant: undefined, certificate, tokenOrigin: undefined, userAgent: '' })
  return essence(await send(client, url, { credentials }))
}

describe('a server that requires a client certificate', () => {
  test('takes requests with ours, also with an encrypted key', async () => {
    const { url, arrivals } = await startTls()
    const encrypted = { certificate: CLIENT_CERTIFICATE, key: ENCRYPTED_KEY, passphrase: 'opensesame' }
    expect(await call(openClient(), url, MILLRACE)).toBe('answer 200')
    expect(await call(openClient(), url, { ...MILLRACE, identity: encrypted })).toBe('answer 200')
    expect(arrivals.map(({ client }) => client)).toEqual(['millrace', 'millrace'])
  })

  test('gets no request without one, which counts as no answer', async () => {
    const { url, arrivals } = await startTls()
    // The server's alert may be overtaken by its reset.
    expect(await call(openClient(), url, { ...MILLRACE, identity: undefined })).toMatch(
      /^no_answer \d+ \[(ERR_SSL_\w*CERTIFICATE_REQUIRED|ECONNRESET)\] :: /,
    )
    expect(arrivals).toEqual([])
  })

  test('is known by the authorities of the configuration alone', async () => {
    const { url, arrivals } = await startTls()
    expect(await call(openClient(), url, { ...MILLRACE, authorities: undefined })).toMatch(
      /^no_answer 400 \[(UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT_LOCALLY)\]/,
    )
    expect(arrivals).toEqual([])
  })
})

test('connections with a certificate are kept, and carry no request without it or with another one', async () => {
  const { url, arrivals, sockets } = await startTls(false)
  const client = openClient({ connections: 1 })
  const without = { identity: undefined, authorities: CA_CERTIFICATE }
  for (const certificate of [MILLRACE, MILLRACE, OTHER, without, MILLRACE, OTHER, without]) {
    expect(await call(client, url, certificate)).toBe('answer 200')
  }
  expect(arrivals.map(({ client }) => client)).toEqual([
    'millrace',
    'millrace',
    'other',
    undefined,
    'millrace',
    'other',
    undefined,
  ])
  expect(sockets.size).toBe(3)
})

test('a redirect to another origin gets no certificate', async () => {
  const other = await startTls(false)
  const client = openClient({ lookup: lookupOf(['127.0.0.1']) })
  const { url } = await startTls(true, other.url)
  // Without our authority the other server is not known either.
  expect(await call(client, url, MILLRACE)).toMatch(/^no_answer 400 /)
  expect(other.arrivals).toEqual([])
  const same = await startTls(true, '/in')
  expect(await call(client, same.url, MILLRACE)).toBe('answer 307')
  expect(new Set(same.arrivals.map(({ client }) => client))).toEqual(new Set(['millrace']))
})

test('a certificate that cannot be read fails its own requests alone', async () => {
  const { url } = await startTls()
  const client = openClient()
  const identity = { certificate: CLIENT_CERTIFICATE, key: OTHER_KEY }
  expect(await call(client, url, { ...MILLRACE, identity })).toMatch(/^no_answer 400 \[ERR_OSSL_\w+\] :: /)
  expect(await call(client, url, MILLRACE)).toBe('answer 200')
})

test('pools of certificates are bounded: the oldest is closed once it is idle', async () => {
  const { url, sockets } = await startTls(false)
  const client = openClient({ connections: 1 })
  for (let n = 0; n < 70; n++) {
    // The same certificate, as another configuration: the passphrase of a plain key means nothing.
    const identity = { certificate: CLIENT_CERTIFICATE, key: CLIENT_KEY, passphrase: String(n) }
    expect(await call(client, url, { ...MILLRACE, identity })).toBe('answer 200')
  }
  await expect.poll(() => [...sockets].filter(({ destroyed }) => !destroyed).length).toBe(64)
})

test('a certificate is used through a proxy, too', async () => {
  const { port, arrivals } = await startTls()
  const proxy = createHttpServer().on('connect', (_, socket: Socket) => {
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      upstream.pipe(socket).pipe(upstream)
    })
    for (const each of [upstream, socket]) each.on('error', () => {})
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  whenDone(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  const client = openClient({ proxy: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` })
  for (const certificate of [MILLRACE, OTHER, MILLRACE]) {
    expect(await call(client, 'https://hook.test/in', certificate)).toBe('answer 200')
  }
  expect(arrivals.map(({ client }) => client)).toEqual(['millrace', 'other', 'millrace'])
})
