import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { Arrivals } from './arrivals.ts'

/** What an event is answered with: a status, or nothing at all, or the end of the connection. */
export type WebhookAnswer = number | 'hang' | 'reset'

/** A destination of this run, at /in/<number>. */
export class Webhook {
  /** Of the current part of a run. */
  arrivals = new Arrivals()
  readonly url: string
  /** How to answer from now on; what is not answered with 2xx is no arrival. */
  answer: (messageId: string) => WebhookAnswer | Promise<WebhookAnswer> = () => 200

  constructor(url: string) {
    this.url = url
  }
}

const END_OF_HEAD = Buffer.from('\r\n\r\n')

/**
 * The destinations of a run: bare sockets, since they share the cores with the product. Every event must come with a
 * Content-Length, one request at a time on a connection, as the product sends them.
 */
export class Webhooks implements AsyncDisposable {
  readonly all: readonly Webhook[]
  /** Whether each answer ends its connection, so that each request needs one of its own. */
  closesConnections = false
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  static async open(count: number, host = '127.0.0.1'): Promise<Webhooks> {
    const webhooks: Webhook[] = []
    const server = createServer({ noDelay: true })
    await new Promise<void>((resolve) => server.listen(0, host, resolve))
    const { port } = server.address() as AddressInfo
    for (let i = 0; i < count; i++) webhooks.push(new Webhook(`http://${host}:${port}/in/${i}`))
    return new Webhooks(server, webhooks)
  }

  private constructor(server: Server, webhooks: readonly Webhook[]) {
    this.#server = server
    this.all = webhooks
    server.on('connection', (socket) => this.#serve(socket))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    let rest: Buffer = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const end = endOfRequest(rest)
      if (end > rest.length) return
      void this.#answer(socket, rest.toString('utf8', 0, end))
      rest = rest.subarray(end)
    })
  }

  async #answer(socket: Socket, request: string): Promise<void> {
    const webhook = this.all[Number(/^\S+ \/in\/(\d+)/.exec(request)![1])]!
    const messageId = /"messageId":"([^"]+)"/.exec(request)![1]!
    const answered = webhook.answer(messageId)
    const answer = typeof answered === 'object' ? await answered : answered
    if (answer === 'hang') return
    if (answer === 'reset') return void socket.resetAndDestroy()
    if (answer < 300) webhook.arrivals.note(messageId)
    const connection = this.closesConnections ? 'close' : 'keep-alive'
    const head = `HTTP/1.1 ${answer} Answer\r\nConnection: ${connection}\r\nContent-Type: text/plain`
    socket.write(`${head}\r\nContent-Length: 2\r\n\r\nok`)
    if (this.closesConnections) socket.end()
  }
}

/** @returns where the request ends, beyond the bytes if more has to come. */
function endOfRequest(bytes: Buffer): number {
  const endOfHead = bytes.indexOf(END_OF_HEAD)
  if (endOfHead < 0) return Number.POSITIVE_INFINITY
  const length = /\ncontent-length: *(\d+)/i.exec(bytes.toString('latin1', 0, endOfHead))
  return endOfHead + END_OF_HEAD.length + Number(length?.[1] ?? 0)
}
