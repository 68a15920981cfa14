import { type Agent, createServer, type IncomingHttpHeaders, request, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import {
  type EventLog,
  type LogWriter,
  MemoryEventLog,
  type Offset,
  STREAMS,
  type StoredRecord,
  type Stream,
} from '@millrace/log'
import {
  decodeRecord,
  encodedSize,
  encodeRecord,
  type JsonObject,
  type RecordHeader,
  type StoredEvent,
  storedEvents,
} from '@millrace/protocol'
import { type Clock, systemClock } from '@millrace/std'
import { Gateway, type GatewayLimits, type GatewayOptions } from './gateway.ts'
import type { GatewaySource } from './gateway-source.ts'

export const KEY = '3PS3MKgFh6ZTxDaxUjKBsLaUg1r'
export const OTHER_KEY = '3PS3SbVbxzI7hQSvvn1dZpQlbYI'
export const DISABLED_KEY = '3PS3Vd0nZ6Cq5Yk2oVgk0rXw3aT'

const SOURCES: Record<string, GatewaySource> = {
  [KEY]: { id: 'source-1', isEnabled: true, partition: 0, orderShards: 1, rateLimitEventsPerMinute: 0 },
  [OTHER_KEY]: { id: 'source-2', isEnabled: true, partition: 0, orderShards: 1, rateLimitEventsPerMinute: 0 },
  [DISABLED_KEY]: { id: 'source-3', isEnabled: false, partition: 0, orderShards: 1, rateLimitEventsPerMinute: 0 },
}

/** The limits of contracts/ingest.md §9. */
export const LIMITS: GatewayLimits = {
  maxBodyBytes: 4_096_000,
  maxEventBytes: 32_768,
  maxNesting: 200,
  maxBatchEvents: 10_000,
  maxConcurrentRequests: 10_000,
  maxBodyBytesInProgress: 256 * 1024 * 1024,
  bodyTimeoutMs: 30_000,
}

export function basic(writeKey: string): Record<string, string> {
  return { Authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}` }
}

export interface Sent {
  /** Default POST. */
  readonly method?: string
  /** Default /v1/track. */
  readonly path?: string
  /** Default: Basic with KEY. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  readonly agent?: Agent
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
}

/** An accepted event with the facts stored beside it. */
export interface Found {
  readonly stream: Stream
  readonly sourceId: string
  readonly event: StoredEvent
  readonly envelopeSentAt: unknown
}

interface Setting {
  readonly limits?: Partial<GatewayLimits>
  readonly clock?: Clock
  readonly log?: EventLog & LogWriter
  readonly sources?: Record<string, Partial<GatewaySource>>
  /** The address whose share it uses; by default none. */
  readonly addressOf?: GatewayOptions['addressOf']
  readonly gateways?: GatewayOptions['gateways']
}

/** A gateway with a real HTTP server and a real log, for tests. */
export class GatewayUnderTest implements AsyncDisposable {
  readonly log: EventLog & LogWriter
  readonly gateway: Gateway
  readonly server: Server
  readonly logged: object[] = []
  /** Unhandled errors while answering a request. */
  readonly faults: unknown[] = []
  obstacle: { retryAfterSeconds: number } | undefined
  /** If set, answers of the log to appends wait for it. */
  appendsWaitFor: Promise<unknown> | undefined
  /** If set, the log refuses appends with it. */
  appendsFailWith: Error | undefined
  readonly sources: Map<string, GatewaySource>
  /** Parsed bodies that readers may take, by the header of their record. */
  readonly kept = new Map<RecordHeader, JsonObject>()

  static async start(setting: Setting = {}): Promise<GatewayUnderTest> {
    const self = new GatewayUnderTest(setting)
    await new Promise<void>((resolve) => self.server.listen(0, '127.0.0.1', resolve))
    return self
  }

  private constructor(setting: Setting) {
    const base = { id: 'source', isEnabled: true, partition: 0, orderShards: 1, rateLimitEventsPerMinute: 0 }
    this.sources = new Map(Object.entries(SOURCES))
    for (const [key, source] of Object.entries(setting.sources ?? {})) {
      this.sources.set(key, { ...(this.sources.get(key) ?? base), ...source })
    }
    this.log = setting.log ?? new MemoryEventLog()
    const options: GatewayOptions = {
      log: {
        partitions: this.log.partitions,
        append: (...given) => this.#append(() => this.log.append(...given)),
        appendAll: (...given) => this.#append(() => this.log.appendAll(...given)),
      },
      parsed: {
        keep: ({ header }, body) => this.kept.set(header, body),
        drop: ({ header }) => this.kept.delete(header),
      },
      findSource: (writeKey) => this.sources.get(writeKey),
      obstacle: () => this.obstacle,
      addressOf: setting.addressOf ?? (() => undefined),
      gateways: setting.gateways,
      limits: { ...LIMITS, ...setting.limits },
      clock: setting.clock ?? systemClock,
      logger: { info: (fields) => this.logged.push(fields) },
    }
    this.gateway = new Gateway(options)
    this.server = createServer()
    // As in the product's server: the gateway itself answers `Expect: 100-continue`.
    for (const event of ['request', 'checkContinue'])
      this.server.on(event, (request, response) => {
        try {
          if (this.gateway.handle(request, response)) return
          response.writeHead(404).end('Not Found')
        } catch (error) {
          this.faults.push(error)
          response.writeHead(500).end(String(error))
        }
      })
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port
  }

  send({ method = 'POST', path = '/v1/track', headers = basic(KEY), body, agent }: Sent): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const outgoing = request({ port: this.port, host: '127.0.0.1', method, path, headers, agent }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const bytes = Buffer.concat(chunks)
          resolve({ status: response.statusCode!, headers: response.headers, bytes, text: bytes.toString() })
        })
      })
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }

  sendJson(path: string, value: unknown, headers: Record<string, string> = basic(KEY)): Promise<Answer> {
    return this.send({ path, body: JSON.stringify(value), headers })
  }

  /** A connection that sends raw bytes; `answer` resolves with everything received until the connection closes. */
  connect(): { socket: Socket; answer: Promise<string>; until: (pattern: RegExp) => Promise<string> } {
    const socket = connect(this.port, '127.0.0.1')
    let text = ''
    const readers = new Set<() => void>()
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      for (const reader of readers) reader()
    })
    // Here a connection that the server resets also counts as an answer.
    socket.on('error', () => {})
    const answer = new Promise<string>((resolve) => socket.once('close', () => resolve(text)))
    const until = (pattern: RegExp) =>
      new Promise<string>((resolve, reject) => {
        const reader = () => {
          if (pattern.test(text)) resolve(text)
        }
        readers.add(reader)
        reader()
        void answer.then(() => reject(new Error(`connection closed after: ${text}`)))
      })
    return { socket, answer, until }
  }

  /** Position for `found`: it skips events stored earlier. */
  end(): Offset {
    return this.log.end(0)
  }

  /** Every stored event from a position, stream by stream in the order of the log. */
  async found(from: Offset = 0): Promise<Found[]> {
    const all: Found[] = []
    for (const stream of STREAMS) {
      for (const record of await this.#records(stream, from)) {
        // The memory log keeps objects; readers of other engines get encoded bytes.
        const bytes = Buffer.alloc(encodedSize(record))
        encodeRecord(record, bytes, 0)
        const decoded = decodeRecord(bytes)
        const { events, sentAt } = storedEvents(decoded)
        const { sourceId } = decoded.header
        for (const event of events) all.push({ stream, sourceId, event, envelopeSentAt: sentAt })
      }
    }
    return all
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.gateway.close()
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
    await this.log[Symbol.asyncDispose]()
  }

  async #append<Result>(append: () => Promise<Result>): Promise<Result> {
    await this.appendsWaitFor
    if (this.appendsFailWith !== undefined) throw this.appendsFailWith
    return append()
  }

  async #records(stream: Stream, from: Offset): Promise<StoredRecord[]> {
    const all: StoredRecord[] = []
    for (let at = from; ; ) {
      const { records, next } = await this.log.read(0, stream, at, 1_000_000)
      all.push(...records)
      if (records.length === 0) return all
      at = next
    }
  }
}
