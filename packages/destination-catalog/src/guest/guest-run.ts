import { AsyncLocalStorage } from 'node:async_hooks'
import type { CapturedRequest } from '../messages.ts'

/** @see contracts/destination-catalog.md §4.3 [C25] */
const MAX_REQUESTS = 100
const MAX_BODY_BYTES = 4_096_000

/** An answer to a request of a run. */
export interface GuestAnswer {
  readonly status: number
  readonly statusText: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A bound of the run was passed; it ends the run even where the code catches it. */
export class BoundError extends Error {
  override readonly name = 'BoundError'
}

/** The service did not answer. The text is for the customer. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
  readonly code = 'NO_ANSWER'
}

const EMPTY_ANSWER: GuestAnswer = {
  status: 200,
  statusText: 'OK',
  headers: { 'content-type': 'application/json' },
  body: '{}',
}

/** One run of destination code: what it may send, and what it has sent. */
export class DefinitionRun {
  readonly slug: string
  /** Requests are kept here and answered with an empty 200. */
  readonly isDry: boolean
  requests: CapturedRequest[] = []
  bound: BoundError | undefined
  #count = 0
  readonly #send: (request: CapturedRequest) => Promise<GuestAnswer>

  constructor(slug: string, isDry: boolean, send: (request: CapturedRequest) => Promise<GuestAnswer>) {
    this.slug = slug
    this.isDry = isDry
    this.#send = send
  }

  /** @throws BoundError, NoAnswerError */
  exchange(request: CapturedRequest): Promise<GuestAnswer> {
    if (++this.#count > MAX_REQUESTS) return this.#end('too many requests')
    if (Buffer.byteLength(request.body) > MAX_BODY_BYTES) return this.#end('request body is too large')
    if (!this.isDry) return this.#send(request)
    this.requests.push(request)
    return Promise.resolve(EMPTY_ANSWER)
  }

  #end(text: string): Promise<never> {
    this.bound = new BoundError(text)
    return Promise.reject(this.bound)
  }
}

/** The run whose code is running. */
export const currentRun = new AsyncLocalStorage<DefinitionRun>()
