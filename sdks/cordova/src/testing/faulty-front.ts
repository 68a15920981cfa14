import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'

/**
 * What happens to one batch on its way to the server. `lost`: the server has it, and its answer is not seen. `busy`: a 503 in
 * place of the server's answer. `dead`: the connection breaks before the server has it. `slow`: it is held for 300 ms.
 */
export type Fault = 'none' | 'lost' | 'busy' | 'dead' | 'slow'

const SLOW_MS = 300

/** Stands between pages and the server, and breaks what passes through. Preflights and other routes pass unharmed. */
export class FaultyFront implements AsyncDisposable {
  /** Of the next batch. */
  fault: () => Fault = () => 'none'
  readonly #server: Server
  readonly #target: URL

  static async open(target: string): Promise<FaultyFront> {
    const front = new FaultyFront(target)
    await new Promise<void>((resolve) => front.#server.listen(0, '127.0.0.1', resolve))
    return front
  }

  private constructor(target: string) {
    this.#target = new URL(target)
    this.#server = createServer((incoming, response) => void this.#pass(incoming, response))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of incoming) chunks.push(chunk)
    } catch {
      // The page was killed while it sent.
      return
    }
    const isBatch = incoming.method === 'POST' && incoming.url === '/v1/batch'
    const fault = isBatch ? this.fault() : 'none'
    if (fault === 'dead') return void incoming.socket.destroy()
    if (fault === 'slow') await new Promise((resolve) => setTimeout(resolve, SLOW_MS))
    const { hostname, port } = this.#target
    const options = { hostname, port, path: incoming.url, method: incoming.method, headers: incoming.headers }
    const onward = request(options, (answer) => {
      const socket: unknown = response.socket ?? incoming.socket
      if (fault === 'lost' && socket instanceof Socket) {
        answer.resume()
        return void socket.destroy()
      }
      const status = fault === 'busy' ? 503 : answer.statusCode!
      response.writeHead(status, { ...answer.headers, connection: 'close' })
      answer.pipe(response)
    })
    onward.once('error', () => incoming.socket.destroy())
    onward.end(Buffer.concat(chunks))
  }
}
