import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Dedup, type DedupRule, type EventLog, type LogWriter, streamOf } from '@millrace/log'
import type { EventRecord, JsonObject } from '@millrace/protocol'
import { type Clock, Deadlines, requestId } from '@millrace/std'
import { type Draft, type DraftRecord, Drafts } from './events/drafts.ts'
import type { EventLimits } from './events/event-check.ts'
import type { GatewaySource } from './gateway-source.ts'
import { IngestMetrics } from './ingest-metrics.ts'
import { type IngestRoute, ingestRoute } from './ingest-routes.ts'
import { type FindSource, NamedSource } from './named-source.ts'
import { PixelExchange, pixelData } from './pixel.ts'
import { RefusalBook } from './refusal-book.ts'
import { Refusal } from './refusals.ts'
import { BodyDecoder, contentEncoding, type Encoding } from './requests/content-encoding.ts'
import { answerPreflight } from './requests/cors.ts'
import { Exchange, type ExchangeDeps } from './requests/exchange.ts'
import { JsonExchange } from './requests/json-exchange.ts'
import { BodyReader } from './requests/request-body.ts'
import { type InProgressLimits, RequestsInProgress, UNAVAILABLE } from './requests/requests-in-progress.ts'

export interface GatewayLimits extends EventLimits, InProgressLimits {
  /** Maximum bytes of a body as sent, and again after decoding. */
  readonly maxBodyBytes: number
  /** From the end of the header to the end of the body. */
  readonly bodyTimeoutMs: number
}

export interface GatewayOptions {
  readonly log: Pick<LogWriter, 'append' | 'appendAll'> & Pick<EventLog, 'partitions'>
  readonly findSource: FindSource
  /** Why no event can be accepted now (log not writable, disk full, stopping); undefined if it can. */
  readonly obstacle: () => { readonly retryAfterSeconds: number } | undefined
  /**
   * Receives the parsed form of events before they are stored, and learns if they were not: delivery need not parse
   * them again.
   */
  readonly parsed?: {
    keep(record: EventRecord, body: JsonObject): void
    drop(record: EventRecord): void
  }
  /** The address by which limits count a request; undefined for a trusted proxy, which has no share. */
  readonly addressOf: (request: IncomingMessage) => string | undefined
  /** The number of gateways that share the rate limit of a source; absent: this one alone. */
  readonly gateways?: (() => number) | undefined
  readonly limits: GatewayLimits
  readonly clock: Clock
  readonly logger: { info(fields: object, text: string): void }
}

const LINGERING_MS = 1_000

/**
 * HTTP ingest: reads, checks, appends, answers. A 200 means that every event of the request is durably stored. Any
 * other status means that none is, with one exception: a 503 for a request with events in several partitions, if the log
 * cannot write them together.
 *
 * @see contracts/ingest.md
 */
export class Gateway {
  readonly metrics = new IngestMetrics()
  readonly refusals = new RefusalBook()
  readonly #options: GatewayOptions
  readonly #drafts: Drafts
  readonly #bodies: BodyReader
  readonly #decoder: BodyDecoder
  readonly #deps: ExchangeDeps
  readonly #inProgress: RequestsInProgress
  readonly #sources: NamedSource

  constructor(options: GatewayOptions) {
    this.#options = options
    this.#inProgress = new RequestsInProgress(options.limits)
    this.#sources = new NamedSource(options.findSource)
    this.#drafts = new Drafts({ ...options, sources: this.#sources })
    this.#bodies = new BodyReader(options.limits.maxBodyBytes, options.limits.bodyTimeoutMs, options.clock)
    this.#decoder = new BodyDecoder(options.limits.maxBodyBytes)
    this.#deps = {
      clock: options.clock,
      metrics: this.metrics,
      refusals: this.refusals,
      logger: options.logger,
      lingering: new Deadlines(options.clock, LINGERING_MS),
      onEnd: (exchange) => this.#inProgress.end(exchange),
    }
  }

  /** Handles a request if its path is an ingest route. @returns whether it did; the gateway then answers. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const url = request.url!
    const queryStart = url.indexOf('?')
    const route = ingestRoute(queryStart === -1 ? url : url.slice(0, queryStart))
    if (route === undefined) return false
    if (request.method === 'OPTIONS') {
      answerPreflight(request, response, requestId(request))
      return true
    }
    const exchange = new (exchangeOf(route))(request, response, route.path, this.#deps)
    const query = queryStart === -1 ? '' : url.slice(queryStart + 1)
    exchange.holder = this.#options.addressOf(request)
    this.#inProgress.begin(exchange)
    if (request.method === route.method) {
      if (route.method === 'POST') this.#receive(exchange, route, query)
      else this.#receivePixel(exchange, route, query)
    } else if (request.method === 'HEAD' && route.method === 'GET') {
      exchange.accept()
    } else {
      exchange.refuseMethod(route.method === 'GET' ? 'GET, HEAD' : 'POST')
    }
    return true
  }

  /** Number of unanswered requests. */
  get requestsInProgress(): number {
    return this.#inProgress.count
  }

  close(): void {
    this.#bodies.close()
    this.#deps.lingering.close()
  }

  #receive(exchange: Exchange, route: IngestRoute, query: string): void {
    const admitted = this.#admit(exchange, route, query)
    if (admitted instanceof Refusal) {
      exchange.refuse(admitted)
      return
    }
    const countBytes = (bytes: number) => this.#inProgress.addBodyBytes(exchange, bytes)
    this.#bodies.read(exchange, countBytes, (body) => {
      if (body === 'gone') {
        exchange.abandon()
      } else if (body instanceof Refusal) {
        exchange.refuse(body)
      } else if (admitted.encoding === 'identity' || body.length === 0) {
        this.#store(exchange, this.#drafts.ofBody(exchange, route, admitted.source, body))
      } else {
        void this.#decoder.decode(body, admitted.encoding).then((decoded) => {
          const refusal = decoded instanceof Refusal ? decoded : countBytes(decoded.length)
          const draft = refusal ?? this.#drafts.ofBody(exchange, route, admitted.source, decoded as Buffer)
          this.#store(exchange, draft)
        })
      }
    })
  }

  #receivePixel(exchange: Exchange, route: IngestRoute, query: string): void {
    this.#store(exchange, this.#judgePixel(exchange, route, query))
  }

  /** Checks 2 to 7 of contracts/ingest.md §6. The source is checked here only if the body does not name it. */
  #admit(exchange: Exchange, route: IngestRoute, query: string): Admitted | Refusal {
    const overload = this.#inProgress.overload(exchange)
    if (overload !== undefined) return overload
    const source = this.#sources.ofRequest(exchange, route, query)
    if (source instanceof Refusal) return source
    const obstacle = this.#obstacle()
    if (obstacle !== undefined) return obstacle
    const encoding = contentEncoding(exchange.request.headers['content-encoding'])
    if (encoding === undefined) return new Refusal('encoding', { headers: { 'Accept-Encoding': 'gzip, br, deflate' } })
    return { source, encoding }
  }

  #judgePixel(exchange: Exchange, route: IngestRoute, query: string): Draft | Refusal {
    const overload = this.#inProgress.overload(exchange)
    if (overload !== undefined) return overload
    if (route.writeKeyIn === 'data') {
      return this.#obstacle() ?? this.#drafts.ofBody(exchange, route, undefined, pixelData(query))
    }
    const source = this.#sources.ofQuery(exchange, route, query)
    if (source instanceof Refusal) return source
    const obstacle = this.#obstacle()
    if (obstacle !== undefined) return obstacle
    return this.#drafts.ofPixel(exchange, route, source, query)
  }

  /** Check 14: answers 200 only after the records are durable. */
  #store(exchange: Exchange, draft: Draft | Refusal): void {
    if (draft instanceof Refusal) {
      exchange.refuse(draft)
      return
    }
    const { sourceId, acceptedAt, records } = draft
    const { parsed, clock } = this.#options
    const startedAt = clock.monotonic()
    for (const { record, part } of records) if (part.parsed !== undefined) parsed?.keep(record, part.parsed)
    this.#append(draft).then(
      () => {
        this.metrics.appendSeconds.observe((clock.monotonic() - startedAt) / 1000)
        for (const { part, duplicates } of records) {
          this.metrics.countEvents(sourceId, part.types, acceptedAt, duplicates)
        }
        exchange.accept(draft.headers)
      },
      () => {
        this.metrics.failedAppends++
        for (const { record } of records) parsed?.drop(record)
        this.#drafts.giveBack(draft)
        exchange.refuse(this.#obstacle() ?? UNAVAILABLE)
      },
    )
  }

  #append({ records, dedup }: Draft): Promise<unknown> {
    const { log } = this.#options
    const appends = records.map((each) => {
      const { part, record } = each
      const { partition } = part
      return { partition, stream: streamOf(record.header), record, dedup: dedup && noting(dedup, each) }
    })
    if (appends.length > 1) return log.appendAll(appends)
    const { partition, stream, record, dedup: rule } = appends[0]!
    return log.append(partition, stream, record, rule)
  }

  #obstacle(): Refusal | undefined {
    const obstacle = this.#options.obstacle()
    return obstacle && new Refusal('unavailable', { headers: { 'Retry-After': String(obstacle.retryAfterSeconds) } })
  }
}

/** The rule for a record of a draft, which receives its duplicates. */
function noting(rule: DedupRule, draft: DraftRecord): Dedup {
  return {
    ...rule,
    onDuplicates(indexes) {
      draft.duplicates = new Set(indexes)
    },
  }
}

function exchangeOf(route: IngestRoute): typeof Exchange {
  if (route.method === 'GET') return PixelExchange
  return route.answersJson ? JsonExchange : Exchange
}

interface Admitted {
  /** Undefined if the write key is in the body. */
  readonly source: GatewaySource | undefined
  readonly encoding: Encoding
}
