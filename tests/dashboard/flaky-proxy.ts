import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What becomes of a request: it passes, later or now, is held until something else is said, breaks, or is answered with a status. */
export type Fate = 'pass' | 'hold' | 'cut' | 503 | 429 | { readonly afterMs: number }

/** Stands between the browser and the server, and does to requests what networks do. */
export class FlakyProxy implements AsyncDisposable {
  /** Of each request from now on; those that are held look again when it is set. */
  #fate: (path: string, method: string) => Fate = () => 'pass'
  readonly #held = new Set<() => void>()
  readonly #server: Server
  readonly #target: () => string

  /** @param target the server's address, asked for with each request. */
  static async open(target: () => string): Promise<FlakyProxy> {
    const proxy = new FlakyProxy(target)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  private constructor(target: () => string) {
    this.#target = target
    this.#server = createServer((incoming, response) => this.#take(incoming, response))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  set fate(fate: (path: string, method: string) => Fate) {
    this.#fate = fate
    const held = [...this.#held]
    this.#held.clear()
    for (const again of held) again()
  }

  /** Breaks everything that is under way. */
  breakAll(): void {
    this.#server.closeAllConnections()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #take(incoming: IncomingMessage, response: ServerResponse): void {
    const fate = this.#fate(incoming.url!, incoming.method!)
    if (fate === 'hold') this.#held.add(() => this.#take(incoming, response))
    else if (fate === 'cut') incoming.socket.destroy()
    else if (fate === 'pass') this.#pass(incoming, response)
    else if (typeof fate === 'object') setTimeout(() => this.#pass(incoming, response), fate.afterMs)
    else answer(response, fate)
  }

  #pass(incoming: IncomingMessage, response: ServerResponse): void {
    const { method, headers, url } = incoming
    const outgoing = request(new URL(url!, this.#target()), { method, headers }, (answered) => {
      response.writeHead(answered.statusCode!, answered.headers)
      answered.pipe(response)
    })
    outgoing.on('error', () => incoming.socket.destroy())
    response.on('close', () => outgoing.destroy())
    incoming.pipe(outgoing)
  }
}

function answer(response: ServerResponse, status: 503 | 429): void {
  const body =
    status === 503
      ? { error: 'Service unavailable', code: 'unavailable', details: null }
      : { error: 'Max Requests Limit reached', code: 'rate_limited', details: null }
  response.writeHead(status, { 'Content-Type': 'application/json', 'X-Request-Id': 'req-1', 'Retry-After': '7' })
  response.end(JSON.stringify(body))
}
