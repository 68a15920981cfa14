import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import type { ScriptedAnswer, ServerScript } from './scenario.ts'

/** A request to /v1/batch as it came. */
export interface ReceivedBatch {
  /** By name. */
  readonly events: readonly string[]
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into them as it knows them to be
  readonly whole: readonly any[]
  readonly gzip: boolean
  readonly writeKey: string
  readonly anonymousId: string | null
  readonly sentAt: string
  /** contracts/ingest.md §4 */
  readonly attempt: unknown
  readonly sentAtOfEvents: readonly string[]
  readonly contentType: string | undefined
  readonly bytes: number
}

/** The server of a scenario: answers as its script says, for any origin. */
export class ScenarioServer implements AsyncDisposable {
  received: ReceivedBatch[] = []
  /** Requests for the source configuration, as they came. */
  configRequests: { readonly url: string; readonly headers: IncomingMessage['headers'] }[] = []
  private readonly server: Server
  private script: ServerScript = {}
  private answers: ScriptedAnswer[] = []
  private held: Promise<void> | undefined

  static async open(): Promise<ScenarioServer> {
    const scenarioServer = new ScenarioServer()
    await new Promise<void>((resolve) => scenarioServer.server.listen(0, '127.0.0.1', resolve))
    return scenarioServer
  }

  private constructor() {
    this.server = createServer((request, response) => void this.serve(request, response))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  reset(): void {
    this.script = {}
    this.answers = []
    this.received = []
    this.configRequests = []
  }

  /** Members that are not given stay as they are. */
  follow(script: ServerScript): void {
    this.script = { ...this.script, ...script }
    if (script.answers) this.answers = [...script.answers]
  }

  /** Batches are received, and answered once the function is called that this returns. */
  hold(): () => void {
    let release = () => {}
    this.held = new Promise((resolve) => {
      release = resolve
    })
    return release
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections()
    await new Promise<void>((resolve) => this.server.close(() => resolve()))
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A browser repeats by itself what got no answer on a connection that was used before.
    response.setHeader('Connection', 'close')
    for (const [name, value] of Object.entries(corsHeaders(request))) response.setHeader(name, value)
    if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const isConfig = request.url?.startsWith('/sourceConfig')
    if (isConfig) this.configRequests.push({ url: request.url!, headers: request.headers })
    const answer = isConfig ? (this.script.config ?? { status: 404 }) : this.answerTo(request, Buffer.concat(chunks))
    if (!isConfig) await this.held
    if (answer.lost) return void request.socket.destroy()
    response.writeHead(answer.status ?? 200, answer.headers).end(answer.body)
  }

  private answerTo(request: IncomingMessage, body: Buffer): ScriptedAnswer {
    const batch = receivedBatch(request, body)
    this.received.push(batch)
    const next = this.answers.shift()
    if (next) return next
    const { poison, always = {} } = this.script
    const at = batch.events.findIndex((event) => poison?.events.includes(event))
    if (!poison || at === -1) return always
    return { status: poison.status, ...(poison.index && { headers: { 'X-Millrace-Event-Index': String(at) } }) }
  }
}

function receivedBatch(request: IncomingMessage, body: Buffer): ReceivedBatch {
  const gzip = request.headers['content-encoding'] === 'gzip'
  const text = (gzip ? gunzipSync(body) : body).toString()
  const { sentAt, attempt, batch } = JSON.parse(text)
  const { authorization = '', anonymousid } = request.headers
  return {
    events: batch.map(({ event }: { event: string }) => event),
    whole: batch,
    gzip,
    writeKey: fromBase64(authorization.slice('Basic '.length)).slice(0, -1),
    anonymousId: typeof anonymousid === 'string' ? fromBase64(anonymousid) : null,
    sentAt,
    attempt,
    sentAtOfEvents: batch.map((event: { sentAt: string }) => event.sentAt),
    contentType: request.headers['content-type'],
    bytes: Buffer.byteLength(text),
  }
}

function corsHeaders({ headers }: IncomingMessage): Record<string, string> {
  return {
    'Access-Control-Allow-Origin': headers.origin ?? '*',
    'Access-Control-Allow-Headers': headers['access-control-request-headers'] ?? '*',
    'Access-Control-Allow-Methods': 'GET, POST',
    'Access-Control-Expose-Headers': 'X-Millrace-Event-Index, Retry-After, ETag',
  }
}

function fromBase64(text: string): string {
  return Buffer.from(text, 'base64').toString()
}
