import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { StoredEvent } from '@millrace/protocol'

/** What a destination does with a request: a status, a whole answer, no answer, or an end of the connection. */
export type SinkAnswer =
  | number
  | {
      status: number
      headers?: Record<string, string>
      body?: string | Buffer
      /** The connection ends within the body, after what is given of it. */
      isLost?: boolean
    }
  | 'hang'
  | 'reset'

export interface Arrival {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The first of `events`. */
  readonly event: StoredEvent
  /** All events of a batch, or the single one. */
  readonly events: readonly StoredEvent[]
  /** How often this messageId has arrived at this path; 1 for the first time. */
  readonly n: number
}

/** A destination on loopback whose answers the test controls. */
export class Sink {
  readonly arrivals: Arrival[] = []
  /** Requests that it holds without an answer. */
  held = 0
  answer: (arrival: Arrival) => SinkAnswer
  port = 0
  readonly #server = createServer((request, response) => void this.#receive(request, response))
  readonly #release = new Set<() => void>()
  readonly #times = new Map<string, number>()

  private constructor(answer: Sink['answer']) {
    this.answer = answer
  }

  static async start(answer: SinkAnswer | Sink['answer'] = 200): Promise<Sink> {
    const sink = new Sink(typeof answer === 'function' ? answer : () => answer)
    sink.#server.listen(0, '127.0.0.1')
    await once(sink.#server, 'listening')
    sink.port = (sink.#server.address() as AddressInfo).port
    return sink
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/in`
  }

  /** In order of arrival, including repeats. */
  get messageIds(): string[] {
    return this.arrivals.flatMap(({ events }) => events.map(({ messageId }) => messageId))
  }

  /** Answers the requests that it holds, and holds no more. */
  release(status = 200): void {
    this.answer = () => status
    for (const release of [...this.#release]) release()
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk)
    } catch {
      return
    }
    const events = eventsOf(Buffer.concat(chunks).toString())
    const event = events[0]!
    const path = request.url!
    const key = `${path} ${event.messageId}`
    const n = (this.#times.get(key) ?? 0) + 1
    this.#times.set(key, n)
    const arrival = { path, headers: request.headers, event, events, n }
    this.arrivals.push(arrival)
    const answer = this.answer(arrival)
    if (answer === 'reset') request.socket.resetAndDestroy()
    else if (answer === 'hang') this.#hold(arrival, response)
    else write(response, answer)
  }

  #hold(arrival: Arrival, response: ServerResponse): void {
    this.held++
    const release = () => {
      this.#release.delete(release)
      this.held--
      write(response, this.answer(arrival))
    }
    this.#release.add(release)
    response.on('close', () => {
      if (this.#release.delete(release)) this.held--
    })
  }
}

/** One event, a JSON array of them, or one on each line. */
function eventsOf(body: string): StoredEvent[] {
  const lines = body.trimEnd().split('\n')
  const parsed = lines.map((line) => JSON.parse(line) as StoredEvent | StoredEvent[])
  return parsed.flat()
}

function write(response: ServerResponse, answer: SinkAnswer): void {
  if (typeof answer === 'string') return
  const { status, headers = {}, body = '', isLost } = typeof answer === 'number' ? { status: answer } : answer
  if (isLost === true) {
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) + 1 })
    response.write(body, () => response.socket?.destroySoon())
  } else response.writeHead(status, headers).end(body)
}
