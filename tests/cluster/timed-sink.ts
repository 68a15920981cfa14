import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Call {
  readonly messageId: string
  /** By `performance.now()`. */
  readonly at: number
}

/** A destination on loopback that notes when each event comes, and answers after a time. */
export class TimedSink implements Disposable {
  /** In order of arrival, with repeats. */
  readonly calls: Call[] = []
  status = 200
  answerMs = 0
  inFlight = 0
  /** The most calls at the same time since it was last set. */
  mostInFlight = 0
  #url = ''
  readonly #server = createServer(async (request, response) => {
    this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight)
    const at = performance.now()
    response.once('close', () => this.inFlight--)
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    this.calls.push({ messageId: JSON.parse(body).messageId, at })
    setTimeout(() => response.writeHead(this.status).end(), this.answerMs)
  })

  static async start(): Promise<TimedSink> {
    const sink = new TimedSink()
    sink.#server.listen(0, '127.0.0.1')
    await once(sink.#server, 'listening')
    sink.#url = `http://127.0.0.1:${(sink.#server.address() as AddressInfo).port}/in`
    return sink
  }

  get url(): string {
    return this.#url
  }

  get messageIds(): string[] {
    return this.calls.map(({ messageId }) => messageId)
  }

  /** Those of one source, by the first part of `<source>.<number>`. */
  of(source: number): readonly Call[] {
    return this.calls.filter(({ messageId }) => messageId.startsWith(`${source}.`))
  }

  [Symbol.dispose](): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}
