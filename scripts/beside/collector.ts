import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'

/** What the collector does with requests that carry events. */
export type Mood = 'takes' | 'is-unavailable' | 'hangs-up-after-reading' | 'answers-late'

const LATE_MS = 10_000

/**
 * Takes whatever any of the clients sends, and looks for event names in it: `Event 17 of run 3`. Every client has a wire format of its
 * own, but a name is in all of them, once compression and encodings are undone.
 */
export class Collector implements AsyncDisposable {
  mood: Mood = 'takes'
  /** The page that every other address answers with. */
  page = ''
  /** How often each event was taken, by its name. */
  readonly taken = new Map<string, number>()
  /** When the last request came, of any kind. */
  lastRequestAt = 0
  private readonly server: Server

  static async open(): Promise<Collector> {
    const collector = new Collector()
    await new Promise<void>((resolve) => collector.server.listen(0, '127.0.0.1', resolve))
    return collector
  }

  private constructor() {
    this.server = createServer((request, response) => void this.serve(request, response))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections()
    await new Promise<void>((resolve) => this.server.close(() => resolve()))
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.lastRequestAt = performance.now()
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk)
    } catch {
      return
    }
    response.setHeader('Access-Control-Allow-Origin', request.headers.origin ?? '*')
    response.setHeader('Access-Control-Allow-Credentials', 'true')
    response.setHeader('Access-Control-Allow-Headers', request.headers['access-control-request-headers'] ?? '*')
    response.setHeader('Access-Control-Allow-Methods', 'GET, POST')
    if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    const names = namesIn(Buffer.concat(chunks), request.url!)
    if (names.length === 0) return void this.answerOther(request, response)
    if (this.mood === 'is-unavailable') return void response.writeHead(503).end()
    for (const name of names) this.taken.set(name, (this.taken.get(name) ?? 0) + 1)
    if (this.mood === 'hangs-up-after-reading') return void request.socket.destroy()
    if (this.mood === 'answers-late') await delay(LATE_MS)
    const answer = { success: true, status: 1, code: 200, error: null, events_ingested: names.length }
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer))
  }

  private answerOther(request: IncomingMessage, response: ServerResponse): void {
    if (request.method === 'GET' && request.url === '/') response.setHeader('Content-Type', 'text/html').end(this.page)
    else response.setHeader('Content-Type', 'application/json').end('{"success":true,"status":1}')
  }
}

function namesIn(body: Buffer, url: string): readonly string[] {
  const plain = body[0] === 0x1f && body[1] === 0x8b ? gunzipSync(body) : body
  const text = plain.toString()
  const found = [text, decoded(text), decoded(url), ...base64Of(text)].map(
    (each) => each.match(/Event \d+ of run \d+/g) ?? [],
  )
  return found.toSorted((one, other) => other.length - one.length)[0]!
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return ''
  }
}

function base64Of(text: string): string[] {
  return [...decoded(text).matchAll(/data=([\w+/=-]+)/g)].map((match) => Buffer.from(match[1]!, 'base64').toString())
}
