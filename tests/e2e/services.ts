import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { SERVICES_CERTIFICATE, SERVICES_KEY } from './services-certificate.ts'

/** A request to a service, as it came there. */
export interface ServiceRequest {
  readonly method: string
  readonly host: string
  /** With its query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface ServiceAnswer {
  readonly status: number
  readonly type: string
  readonly body: string
}

/** What every token endpoint here issues. */
export const ISSUED_TOKEN = 'canary-issued-5Kd9-9876543210'

/**
 * The services that destinations send to, on this machine and under their own names: a forward proxy for
 * MILLRACE_EGRESS_PROXY that ends the TLS of every host itself, with a certificate that this process then trusts.
 */
export class Services implements AsyncDisposable {
  /** Without the requests for access tokens, which are answered by themselves. */
  readonly received: ServiceRequest[] = []
  readonly tokenRequests: ServiceRequest[] = []
  answer: (request: ServiceRequest) => ServiceAnswer = () => ({ status: 200, type: 'text/plain', body: '' })
  readonly #trusted = getCACertificates('default')
  readonly #proxy: Server
  readonly #services: TlsServer

  static async open(): Promise<Services> {
    const services = new Services()
    await new Promise<void>((resolve) => services.#proxy.listen(0, '127.0.0.1', resolve))
    return services
  }

  private constructor() {
    setDefaultCACertificates([...this.#trusted, SERVICES_CERTIFICATE])
    this.#services = createTlsServer({ key: SERVICES_KEY, cert: SERVICES_CERTIFICATE }, (request, response) => {
      void this.#receive(request, response)
    })
    this.#proxy = createServer((_, response) => response.writeHead(405).end()).on('connect', (_, socket) => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      this.#services.emit('connection', socket)
    })
  }

  get proxyUrl(): string {
    return `http://127.0.0.1:${(this.#proxy.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    setDefaultCACertificates(this.#trusted)
    this.#services.closeAllConnections()
    this.#proxy.closeAllConnections()
    await new Promise((resolve) => this.#proxy.close(resolve))
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray()).toString()
    const { method, url, headers } = request
    const received = { method: method!, host: headers.host!, path: url!, headers, body }
    if (url!.endsWith('/token')) {
      this.tokenRequests.push(received)
      response.end(JSON.stringify({ access_token: ISSUED_TOKEN, token_type: 'Bearer', expires_in: 3600 }))
      return
    }
    this.received.push(received)
    const { status, type, body: text } = this.answer(received)
    response.writeHead(status, { 'content-type': type }).end(text)
  }
}
