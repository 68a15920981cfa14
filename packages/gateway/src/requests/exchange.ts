import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Clock, type Deadlines, isBodyHeldBack, requestId } from '@millrace/std'
import type { IngestMetrics } from '../ingest-metrics.ts'
import type { RefusalBook } from '../refusal-book.ts'
import { REFUSALS, type Refusal, type RefusalReason } from '../refusals.ts'
import { clientAddress } from './client-address.ts'
import { corsHeaders } from './cors.ts'

/** One ingest request in progress, and its one answer. */
export class Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly id: string
  /** The route's path, for metrics. */
  readonly path: string
  /** Bytes of the body in memory. */
  bodyBytes = 0
  /** The address whose share it uses; undefined: none. */
  holder: string | undefined
  /** Null until it is known. */
  writeKey = ''
  sourceId: string | null = null
  /** The client waits for `100 Continue` before it sends the body (`Expect: 100-continue`). */
  #isBodyHeldBack: boolean
  readonly #startedAt: number
  protected readonly deps: ExchangeDeps
  #isEnded = false

  constructor(request: IncomingMessage, response: ServerResponse, path: string, deps: ExchangeDeps) {
    this.request = request
    this.response = response
    this.path = path
    this.id = requestId(request)
    this.deps = deps
    this.#startedAt = deps.clock.monotonic()
    this.#isBodyHeldBack = isBodyHeldBack(request)
  }

  /** All checks that need no body have passed: a client that waits may send the body. */
  askForBody(): void {
    if (!this.#isBodyHeldBack) return
    this.#isBodyHeldBack = false
    this.response.writeContinue()
  }

  /** Answers 200: every event of the request is durably stored. */
  accept(headers?: Readonly<Record<string, string>>): void {
    this.#answer(200, 'OK', headers)
  }

  refuse(refusal: Refusal): void {
    const { status, text } = this.note(refusal.reason)
    this.#answer(status, text, {
      ...refusal.headers,
      ...(refusal.eventIndex === undefined ? {} : { 'X-Millrace-Event-Index': String(refusal.eventIndex) }),
    })
  }

  /** The path is known, but not with this method. */
  refuseMethod(allow: string): void {
    const { status, text } = this.note('method')
    this.#answer(status, text, { Allow: allow })
  }

  /** The client disconnected before there was an answer. */
  abandon(): void {
    this.#end(499)
  }

  /** Counts and records the refusal. @returns the text of the answer. */
  protected note(reason: RefusalReason): { readonly status: number; readonly text: string } {
    const { request, path, writeKey, sourceId, bodyBytes } = this
    const { metrics, refusals, clock } = this.deps
    const { status, text } = REFUSALS[reason]
    metrics.countRefusal(reason, sourceId)
    refusals.note({
      at: clock.now(),
      route: path,
      status,
      text,
      sourceId,
      writeKey,
      address: clientAddress(request),
      userAgent: request.headers['user-agent'] ?? '',
      bytes: Number(request.headers['content-length'] ?? bodyBytes),
    })
    return { status, text }
  }

  /** Answers with headers other than the usual ones. */
  send(status: number, headers: Readonly<Record<string, string>>, body: Buffer | string): void {
    this.#closeAfterwards(status)
    this.response.writeHead(status, {
      ...headers,
      ...corsHeaders(this.request),
      'Content-Length': Buffer.byteLength(body),
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': this.id,
    })
    this.#finish(status, this.request.method === 'HEAD' ? '' : body)
  }

  #answer(status: number, text: string, headers: Readonly<Record<string, string>> | undefined): void {
    const { response } = this
    const { origin } = this.request.headers
    if (headers === undefined && origin === undefined) {
      this.#closeAfterwards(status)
      response.writeHead(status, [...PLAIN_HEADERS, 'Content-Length', String(text.length), 'X-Request-Id', this.id])
      this.#finish(status, text)
    } else {
      this.send(status, { 'Content-Type': 'text/plain; charset=utf-8', ...headers }, text)
    }
  }

  #finish(status: number, body: Buffer | string): void {
    this.#end(status)
    if (!this.#isStillSending(status)) {
      // This encoding saves Node a search for characters beyond ASCII.
      this.response.end(body, 'latin1')
      return
    }
    // If the server closed the connection while the client still sends, the client would lose the answer. So the server
    // reads and discards the rest for a moment, then closes the connection.
    const { request, response } = this
    response.write(body)
    const deadline = this.deps.lingering.start(() => response.end())
    const end = () => {
      this.deps.lingering.clear(deadline)
      response.end()
    }
    request.once('end', end).once('close', end).resume()
  }

  /** Ends the connection with the answer if more of the body may come. Call it before the header is written. */
  #closeAfterwards(status: number): void {
    if (this.#isStillSending(status) || this.#isBodyHeldBack) this.response.shouldKeepAlive = false
  }

  /** Whether the client may still be sending a large or endless body. */
  #isStillSending(status: number): boolean {
    return !this.request.complete && WITH_UNREAD_BODY.has(status)
  }

  #end(status: number): void {
    if (this.#isEnded) return
    this.#isEnded = true
    const seconds = (this.deps.clock.monotonic() - this.#startedAt) / 1000
    this.deps.metrics.countRequest(this.path, status, seconds)
    this.deps.onEnd(this)
  }
}

/** Dependencies that all exchanges share. */
export interface ExchangeDeps {
  readonly clock: Clock
  readonly metrics: IngestMetrics
  readonly refusals: RefusalBook
  readonly logger: { info(fields: object, text: string): void }
  /** How long an answered client may continue to send data that the server discards. */
  readonly lingering: Deadlines
  /** Called once for each exchange, when it is answered or abandoned. */
  readonly onEnd: (exchange: Exchange) => void
}

const PLAIN_HEADERS = [
  'Content-Type',
  'text/plain; charset=utf-8',
  'X-Content-Type-Options',
  'nosniff',
  'Vary',
  'Origin',
]

/** Answers to a body that was not read to its end. */
const WITH_UNREAD_BODY = new Set([408, 413])
