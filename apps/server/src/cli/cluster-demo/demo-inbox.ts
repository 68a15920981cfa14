import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { oneLine } from '../paint.ts'

/** Number of deliveries that are shown, one line each. */
const MAX_SHOWN = 100

/** A webhook that accepts every event and shows it. */
export class DemoInbox implements AsyncDisposable {
  readonly url: string
  readonly #server: Server
  readonly #tell: (line: string) => void
  #shown = 0

  static async start(tell: (line: string) => void): Promise<DemoInbox> {
    const server = createServer()
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
    return new DemoInbox(server, tell)
  }

  private constructor(server: Server, tell: (line: string) => void) {
    this.#server = server
    this.#tell = tell
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    server.on('request', (request, answer) => {
      text(request).then(
        (body) => {
          answer.end('ok')
          this.#show(body)
        },
        () => answer.destroy(),
      )
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  #show(body: string): void {
    if (this.#shown === MAX_SHOWN) return
    this.#shown++
    this.#tell(`  arrived  ${arrivalText(body)}`)
    if (this.#shown === MAX_SHOWN) this.#tell('  (later deliveries are not shown here)')
  }
}

/** `track Hello (hello-1)` */
function arrivalText(body: string): string {
  try {
    const { type, event, name, messageId } = JSON.parse(body) as Record<string, unknown>
    return oneLine(`${type} ${event ?? name ?? ''} (${messageId})`.replace('  ', ' '), 120)
  } catch {
    return `${body.length} bytes`
  }
}
