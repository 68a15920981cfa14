import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'

const DEADLINE_MS = 10_000

/** A request as it came. */
export interface Received {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** The body parsed as JSON; undefined if it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it as it knows it to be
  readonly json: any
}

export interface Answer {
  /** Default 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** `reset` breaks the connection instead. A promise that settles late is a slow answer, one that never does a hang. */
export type SinkAnswer = Answer | 'reset'

interface Waiter {
  readonly isMet: () => boolean
  readonly resolve: () => void
}

/** A destination on this machine: keeps what it is sent, and answers as it is told. */
export class Sink implements AsyncDisposable {
  /** Of all requests, in the order in which they came. */
  readonly received: Received[] = []
  /** How to answer from now on. */
  answer: (request: Received) => SinkAnswer | Promise<SinkAnswer> = () => ({})
  readonly #server: Server
  readonly #waiters = new Set<Waiter>()

  static async open(): Promise<Sink> {
    const sink = new Sink()
    await new Promise<void>((resolve) => sink.#server.listen(0, '127.0.0.1', resolve))
    return sink
  }

  private constructor() {
    this.#server = createServer((request, response) => void this.#receive(request, response))
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** @returns everything that came, once that is `count` requests. */
  async waitFor(count: number, deadlineMs = DEADLINE_MS): Promise<Received[]> {
    await this.until(() => this.received.length >= count, `${count} requests`, deadlineMs)
    return this.received
  }

  /** Resolves when a condition on what has been received holds; it is looked at after each arrival. */
  until(isMet: () => boolean, what: string, deadlineMs = DEADLINE_MS): Promise<void> {
    if (isMet()) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const late = () => {
        this.#waiters.delete(waiter)
        reject(new Error(`the sink waited ${deadlineMs} ms for ${what}; it has ${this.received.length} requests`))
      }
      const timer = setTimeout(late, deadlineMs)
      const waiter = {
        isMet,
        resolve: () => {
          clearTimeout(timer)
          this.#waiters.delete(waiter)
          resolve()
        },
      }
      this.#waiters.add(waiter)
    })
  }

  /** Forgets what came, for the next part of a test. */
  clear(): void {
    this.received.length = 0
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request)
    if (body === undefined) return
    const { method, url, headers } = request
    const received: Received = { method: method!, path: url!, headers, body, json: parsed(body) }
    this.received.push(received)
    const answer = Promise.resolve(this.answer(received))
    for (const waiter of this.#waiters) if (waiter.isMet()) waiter.resolve()
    await send(await answer, response)
  }
}

/** @returns undefined when the sender gave up. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  try {
    return Buffer.concat(await request.toArray())
  } catch {
    return undefined
  }
}

async function send(answer: SinkAnswer, response: ServerResponse): Promise<void> {
  if (answer === 'reset') {
    response.socket?.resetAndDestroy()
    return
  }
  const { status = 200, headers = {}, body = '' } = answer
  response.writeHead(status, headers)
  response.end(body)
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}
