import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { DemoServer } from './demo-server.ts'

/** Paths of clients, which gateways serve; all others are of control processes (contracts/cluster.md §1). */
export const PATHS_OF_GATEWAYS: readonly string[] = [
  ...['/v1/*', '/beacon/*', '/s/v1/*', '/pixel/*', '/hooks/*', '/api/s/*', '/analytics.js/*', '/sourceConfig'],
]

/**
 * One address for the whole demonstration, as a load balancer gives it to a cluster. Gateways take turns, and one that does not
 * accept connections is skipped.
 */
export class DemoProxy implements AsyncDisposable {
  #server!: DemoServer
  #gateways: readonly string[] = []
  #control: string | undefined
  #turn = 0

  static async start(): Promise<DemoProxy> {
    const proxy = new DemoProxy()
    proxy.#server = await DemoServer.start((incoming, answer) => void proxy.#forward(incoming, answer))
    return proxy
  }

  private constructor() {}

  get url(): string {
    return this.#server.url
  }

  /** Addresses of the processes; before, every request is answered with 503. */
  sendTo(gateways: readonly string[], control: string): void {
    this.#gateways = gateways
    this.#control = control
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server[Symbol.asyncDispose]()
  }

  async #forward(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const socket = await connected(this.#targetsOf(incoming.url ?? '/'))
    if (socket === undefined) {
      incoming.resume()
      answer.writeHead(503, { 'content-type': 'text/plain' }).end('No process of the demonstration answers\n')
      return
    }
    const { method, url: path, headers } = incoming
    const forwarded = request({ createConnection: () => socket, method, path, headers, setHost: false })
    forwarded.on('response', (response) => {
      answer.writeHead(response.statusCode!, response.headers)
      response.pipe(answer)
    })
    // Whichever side ends early, so does the other.
    forwarded.on('error', () => answer.destroy())
    answer.on('close', () => socket.destroy())
    incoming.pipe(forwarded)
  }

  #targetsOf(path: string): string[] {
    if (!isOfGateways(path)) return this.#control === undefined ? [] : [this.#control]
    const first = this.#turn++ % Math.max(1, this.#gateways.length)
    return [...this.#gateways.slice(first), ...this.#gateways.slice(0, first)]
  }
}

function isOfGateways(url: string): boolean {
  const [path = ''] = url.split('?', 1)
  return PATHS_OF_GATEWAYS.some((each) => (each.endsWith('/*') ? path.startsWith(each.slice(0, -1)) : path === each))
}

/** A connection to the first target that accepts one. */
async function connected(targets: readonly string[]): Promise<Socket | undefined> {
  for (const target of targets) {
    const { hostname, port } = new URL(target)
    const socket = connect({ host: hostname, port: Number(port) })
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    if (isOpen) return socket
  }
  return undefined
}
