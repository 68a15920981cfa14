import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

const HOST = '127.0.0.1'

/** An HTTP server of the demonstration, at a free port of this machine. */
export class DemoServer implements AsyncDisposable {
  readonly url: string
  readonly #server: Server

  static async start(onRequest: RequestListener): Promise<DemoServer> {
    const server = createServer(onRequest)
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, HOST, resolve))
    return new DemoServer(server)
  }

  private constructor(server: Server) {
    this.#server = server
    this.url = `http://${HOST}:${(server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }
}
