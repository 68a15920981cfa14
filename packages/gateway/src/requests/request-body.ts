import type { IncomingMessage } from 'node:http'
import { ByteCollector, type Clock, Deadlines } from '@millrace/std'
import { Refusal } from '../refusals.ts'
import type { Exchange } from './exchange.ts'

/**
 * Reads the bodies of requests. Most arrive in one piece with their header; such a body needs one listener and no
 * timer. A body that is incomplete at the end of the turn gets the other listeners and a deadline.
 */
export class BodyReader {
  readonly #maxBytes: number
  readonly #deadlines: Deadlines
  #fresh: BodyReading[] = []

  /** @param timeoutMs from the header to the end of the body. */
  constructor(maxBytes: number, timeoutMs: number, clock: Clock) {
    this.#maxBytes = maxBytes
    this.#deadlines = new Deadlines(clock, timeoutMs)
  }

  /**
   * Reads a body to its end, or until it is refused; then reading stops.
   *
   * @param exchange asks the client for the body, unless the announced size is too large.
   * @param onBytes called with every piece, to count bytes in progress; may refuse the body.
   * @param onDone called once. 'gone' if the client disconnected first.
   */
  read(exchange: Exchange, onBytes: OnBytes, onDone: (body: Body) => void): void {
    const { request } = exchange
    const announced = request.headers['content-length']
    if (announced !== undefined && Number(announced) > this.#maxBytes) {
      onDone(new Refusal('body_size'))
      return
    }
    exchange.askForBody()
    const reading = new BodyReading(request, this.#maxBytes, onBytes, onDone)
    if (this.#fresh.push(reading) === 1) setImmediate(() => this.#waitForLate())
  }

  close(): void {
    this.#deadlines.close()
  }

  #waitForLate(): void {
    const fresh = this.#fresh
    this.#fresh = []
    for (const reading of fresh) reading.wait(this.#deadlines)
  }
}

export type OnBytes = (count: number) => Refusal | undefined

/** A body, or the reason why there is none. */
export type Body = Buffer | Refusal | 'gone'

class BodyReading {
  readonly #request: IncomingMessage
  readonly #maxBytes: number
  readonly #onBytes: OnBytes
  readonly #onDone: (body: Body) => void
  #only: Buffer | undefined
  /** Absent while the body has one piece. */
  #pieces: ByteCollector | undefined
  #length = 0
  #isDone = false
  #clearDeadline: (() => void) | undefined

  constructor(request: IncomingMessage, maxBytes: number, onBytes: OnBytes, onDone: (body: Body) => void) {
    this.#request = request
    this.#maxBytes = maxBytes
    this.#onBytes = onBytes
    this.#onDone = onDone
    request.on('data', (chunk: Buffer) => this.#take(chunk))
  }

  wait(deadlines: Deadlines): void {
    if (this.#isDone) return
    if (this.#request.readableEnded) {
      this.#finish(this.#whole())
      return
    }
    const deadline = deadlines.start(() => this.#finish(new Refusal('timeout')))
    this.#clearDeadline = () => deadlines.clear(deadline)
    this.#request.once('end', () => this.#finish(this.#whole()))
    this.#request.once('close', () => this.#finish('gone'))
  }

  #take(chunk: Buffer): void {
    if (this.#isDone) return
    this.#length += chunk.length
    const refusal = this.#onBytes(chunk.length)
    if (this.#length > this.#maxBytes) {
      this.#finish(new Refusal('body_size'))
      return
    }
    if (refusal !== undefined) {
      this.#finish(refusal)
      return
    }
    if (this.#only === undefined) {
      this.#only = chunk
    } else {
      if (this.#pieces === undefined) {
        this.#pieces = new ByteCollector()
        this.#pieces.add(this.#only)
      }
      this.#pieces.add(chunk)
    }
    if (this.#request.complete && this.#request.readableLength === 0) this.#finish(this.#whole())
  }

  #whole(): Buffer {
    return this.#pieces?.whole() ?? this.#only ?? EMPTY
  }

  #finish(body: Body): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#clearDeadline?.()
    this.#only = this.#pieces = undefined
    this.#onDone(body)
  }
}

const EMPTY = Buffer.alloc(0)
