import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** When the connection breaks: before the server has the message, or after the server has answered it. */
export type BreaksAt = 'before' | 'after'

interface Break {
  readonly message: string
  readonly at: BreaksAt
  /** Then all connections break, and the server is away. */
  readonly staysAway?: boolean
}

/** A network between clients and a Postgres server that breaks connections at messages of the test's choice. */
export class BreakingProxy implements AsyncDisposable {
  readonly url: string
  /** Set by the test: the next message that holds these bytes breaks its connection. */
  next: Break | undefined
  /** Whether new connections break at once. */
  isAway = false
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server, target: URL) {
    this.#server = server
    const url = new URL(target)
    url.port = `${(server.address() as AddressInfo).port}`
    this.url = url.href
    server.on('connection', (client) => this.#pass(client, Number(target.port)))
  }

  static async open(target: string): Promise<BreakingProxy> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new BreakingProxy(server, new URL(target))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #pass(client: Socket, port: number): void {
    if (this.isAway) {
      client.destroy()
      return
    }
    const server = connect(port, '127.0.0.1')
    const end = () => {
      for (const socket of this.isAway ? this.#sockets : [client, server]) socket.destroy()
    }
    for (const socket of [client, server]) {
      this.#sockets.add(socket)
      socket.on('close', end).on('error', end)
    }
    let isBreaking = false
    client.on('data', (data) => {
      if (this.next !== undefined && data.includes(this.next.message)) {
        const { at, staysAway = false } = this.next
        this.next = undefined
        this.isAway = staysAway
        if (at === 'before') return end()
        isBreaking = true
      }
      server.write(data)
    })
    server.on('data', (data) => {
      if (isBreaking) end()
      else client.write(data)
    })
  }
}
