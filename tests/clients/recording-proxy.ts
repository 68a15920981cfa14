import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'

/** A request of a client, and what it was answered. */
export interface Passed {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly status: number
  /** The body parsed; undefined if it is no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it as it knows it to be
  readonly json: any
}

/** Stands between a client and the product: keeps what passes, and answers in the product's place where that is wanted. */
export class RecordingProxy implements AsyncDisposable {
  readonly passed: Passed[] = []
  /** Answers events with this status as long as it says one; each with `Retry-After: 1`. */
  refuse: () => 429 | 503 | undefined = () => undefined
  readonly #server: Server
  readonly #target: () => string

  static async open(target: () => string): Promise<RecordingProxy> {
    const proxy = new RecordingProxy(target)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  private constructor(target: () => string) {
    this.#target = target
    this.#server = createServer((incoming, response) => void this.#take(incoming, response))
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** The events that the product took, as they were sent, each with what its envelope says for all of them. */
  events(): Sent[] {
    const taken = this.passed.filter(
      ({ method, status, json }) => method === 'POST' && status === 200 && json !== undefined,
    )
    return taken.flatMap(({ path, json }) => {
      if (!Array.isArray(json.batch)) return [{ event: { type: typeOfPath(path), ...json }, envelope: {} }]
      const { batch, ...envelope } = json
      return batch.map((event: object) => ({ event, envelope }))
    })
  }

  clear(): void {
    this.passed.length = 0
    this.refuse = () => undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, headers, url } = incoming
    const body = Buffer.concat(await incoming.toArray().catch(() => []))
    const keep = (status: number) =>
      this.passed.push({
        method: method!,
        path: url!,
        headers,
        status,
        json: parsed(body, headers['content-encoding']),
      })
    const refused = method === 'POST' ? this.refuse() : undefined
    if (refused !== undefined) {
      keep(refused)
      response.writeHead(refused, {
        'Content-Type': 'text/plain',
        'Retry-After': '1',
        'Access-Control-Allow-Origin': '*',
      })
      response.end(refused === 429 ? 'Max Requests Limit reached' : 'Service unavailable')
      return
    }
    const outgoing = request(new URL(url!, this.#target()), { method, headers }, (answered) => {
      keep(answered.statusCode!)
      response.writeHead(answered.statusCode!, answered.headers)
      answered.pipe(response)
    })
    outgoing.on('error', () => incoming.socket.destroy())
    outgoing.end(body)
  }
}

export interface Sent {
  // biome-ignore lint/suspicious/noExplicitAny: JSON that a client made
  readonly event: any
  // biome-ignore lint/suspicious/noExplicitAny: JSON that a client made
  readonly envelope: any
}

const SHORT_NAMES = { i: 'identify', t: 'track', p: 'page', s: 'screen', g: 'group', a: 'alias' } as const

function typeOfPath(path: string): string {
  const last = path.split('?', 1)[0]!.split('/').at(-1)!
  return SHORT_NAMES[last as keyof typeof SHORT_NAMES] ?? last
}

function parsed(body: Buffer, encoding: string | undefined): unknown {
  try {
    return JSON.parse(DECODERS[encoding as keyof typeof DECODERS]?.(body).toString() ?? body.toString())
  } catch {
    return undefined
  }
}

const DECODERS = { gzip: gunzipSync, br: brotliDecompressSync, deflate: inflateSync }
