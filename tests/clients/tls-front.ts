import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls'
import { promisify } from 'node:util'

const HOST = 'events.cinema.example'
const PASSWORD = 'of-the-test'

/**
 * The product under a name of its own over TLS, for a library that speaks nothing else. The library's connections all go
 * through a proxy, which knows this one name and keeps every name that it was asked for.
 */
export class TlsFront implements AsyncDisposable {
  static readonly url = `https://${HOST}`
  /** `host:port` that connections were wanted to. */
  readonly wanted = new Set<string>()
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'millrace-tls-'))
  #front!: TlsServer
  #proxy!: Server

  /** @param port plain HTTP on loopback. */
  static async open(port: number): Promise<TlsFront> {
    const made = new TlsFront()
    await made.#start(port)
    return made
  }

  /** Environment of a JVM that trusts the certificate, and goes through the proxy. */
  get javaEnvironment(): Record<string, string> {
    const { port } = this.#proxy.address() as AddressInfo
    const properties = {
      'https.proxyHost': '127.0.0.1',
      'https.proxyPort': port,
      'http.proxyHost': '127.0.0.1',
      'http.proxyPort': port,
      'javax.net.ssl.trustStore': path.join(this.#folder, 'trust.p12'),
      'javax.net.ssl.trustStorePassword': PASSWORD,
    }
    const options = Object.entries(properties).map(([name, value]) => `-D${name}=${value}`)
    return { JAVA_TOOL_OPTIONS: options.join(' ') }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#proxy.closeAllConnections()
    for (const server of [this.#proxy, this.#front]) server.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #start(port: number): Promise<void> {
    const options = { pfx: await this.#certificate(), passphrase: PASSWORD }
    this.#front = createTlsServer(options, (socket) => join(socket, connect(port, '127.0.0.1')))
    this.#proxy = createServer((_request, response) => response.writeHead(403).end())
    this.#proxy.on('connect', ({ url = '' }, socket) => {
      this.wanted.add(url)
      if (url !== `${HOST}:443`) return socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      join(socket, connect((this.#front.address() as AddressInfo).port, '127.0.0.1'))
    })
    for (const server of [this.#front, this.#proxy]) {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    }
  }

  /** A key pair with a certificate of its own, which trust.p12 trusts. */
  async #certificate(): Promise<Buffer> {
    const keytool = (...words: string[]) =>
      promisify(execFile)('keytool', [...words, '-storetype', 'PKCS12', '-storepass', PASSWORD], { cwd: this.#folder })
    const subject = ['-dname', `CN=${HOST}`, '-ext', `san=dns:${HOST}`, '-validity', '2']
    await keytool('-genkeypair', '-alias', 'front', '-keyalg', 'RSA', '-keystore', 'front.p12', ...subject)
    await keytool('-exportcert', '-alias', 'front', '-keystore', 'front.p12', '-file', 'front.crt')
    await keytool('-importcert', '-noprompt', '-alias', 'front', '-keystore', 'trust.p12', '-file', 'front.crt')
    return readFileSync(path.join(this.#folder, 'front.p12'))
  }
}

/** Ends both when one ends, in whatever way. */
function join(one: NodeJS.ReadWriteStream, other: NodeJS.ReadWriteStream): void {
  const isOver = () => {}
  pipeline(one, other, isOver)
  pipeline(other, one, isOver)
}
