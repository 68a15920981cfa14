import type { Clock, Deadline, Deadlines } from '@millrace/std'
import type { Dispatcher } from 'undici'
import { Answer, AnswerBody } from './answer-body.ts'
import { BLOCKED_TEXT, describeFailure, EgressRefusedError, type Failure, failure, TimedOutError } from './failures.ts'
import type { OutboundConnections } from './outbound-connections.ts'
import type { AnswerHeaders, OutboundCall, OutboundRequest, OutboundResult } from './outbound-request.ts'
import { headersFor, redirectLocation } from './redirects.ts'
import type { Target, Targets } from './target.ts'

/** What the exchanges of one client share. */
export interface OutboundDeps {
  readonly clock: Clock
  readonly connections: OutboundConnections
  readonly deadlines: Deadlines
  readonly callTimeoutMs: number
  readonly maxAnswerBytes: number
  readonly targets: Targets
  isClosed: boolean
}

const MAX_REDIRECTS = 5

/**
 * One call from the request to its result, over its redirects. It is itself the handler of the connection that carries
 * it at the moment, and thereby all that is allocated for it: this is the hot path.
 *
 * What a connection reports counts only while it is the current one: `#controller` is set from the moment at which the
 * request is written until its answer has ended or is given up.
 */
export class OutboundExchange implements OutboundCall, Dispatcher.DispatchHandler {
  readonly #deps: OutboundDeps
  readonly #request: OutboundRequest
  readonly #onDone: (result: OutboundResult) => void
  #deadline: Deadline | undefined
  #controller: Dispatcher.DispatchController | undefined
  #isDone = false
  #redirects = 0
  #target: Target | undefined
  /** Of the user and password in the first URL. */
  #authorization: string | undefined
  /** Whether every hop so far stayed on the origin of the first one. */
  #isAtHome = true
  /** 0 until an answer began. */
  #status = 0
  #headers: AnswerHeaders = {}
  #body: AnswerBody | undefined
  /** Where the answer sends us, if we follow. */
  #location: Target | undefined

  constructor(deps: OutboundDeps, request: OutboundRequest, onDone: (result: OutboundResult) => void) {
    this.#deps = deps
    this.#request = request
    this.#onDone = onDone
  }

  start(): void {
    const { deadlines, targets, isClosed } = this.#deps
    if (isClosed) {
      queueMicrotask(() => this.abort())
      return
    }
    this.#deadline = deadlines.start(() => this.#timeOut())
    const target = targets.read(this.#request.url)
    if (typeof target === 'object') {
      this.#authorization = target.authorization
      this.#visit(target)
    } else {
      queueMicrotask(() => this.#refuseTarget(target))
    }
  }

  abort(): void {
    this.#finish({ kind: 'aborted' })
    this.#release(new Error('aborted'))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isDone) controller.abort(new Error('cancelled before it was sent'))
    else this.#controller = controller
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    // Below 200 another status follows.
    if (controller !== this.#controller || status < 200) return
    this.#status = status
    this.#headers = headers
    if (status >= 300 && status < 400 && this.#redirects < (this.#request.maxRedirects ?? MAX_REDIRECTS)) {
      const url = redirectLocation(this.#request.method, status, firstOf(headers['location']), this.#target!)
      const location = url === undefined ? undefined : this.#deps.targets.read(url)
      if (typeof location === 'object') this.#location = location
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (controller !== this.#controller) return
    this.#body ??= new AnswerBody(this.#deps.maxAnswerBytes)
    if (!this.#body.add(chunk)) return
    this.#release(new Error('answer limit reached'))
    this.#settle()
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    if (controller !== this.#controller) return
    this.#controller = undefined
    this.#settle()
  }

  onResponseError(controller: Dispatcher.DispatchController | null | undefined, error: Error): void {
    if (this.#isDone || (controller ?? undefined) !== this.#controller) return
    if (this.#controller === undefined) {
      // Not written yet: this may come while `send` is still running.
      queueMicrotask(() => this.#fail(error, true))
    } else {
      this.#controller = undefined
      this.#fail(error, false)
    }
  }

  #visit(target: Target): void {
    const request = this.#request
    if (this.#target !== undefined && this.#target.origin !== target.origin) this.#isAtHome = false
    this.#target = target
    const isConfigured = this.#isAtHome && target.origin === request.configuredOrigin
    const certificate = this.#isAtHome ? request.credentials?.certificate : undefined
    try {
      this.#deps.connections.to(target, isConfigured, certificate).dispatch(
        {
          origin: target.origin,
          path: target.pathAndQuery,
          method: request.method,
          headers: headersFor(request, this.#authorization, this.#isAtHome),
          body: request.body.length === 0 ? null : request.body,
          blocking: false,
        },
        this,
      )
    } catch (error) {
      queueMicrotask(() => this.#fail(error, true))
    }
  }

  /** The answer has ended, or as much of it as is wanted is there. @param loss why the rest of its body is lost. */
  #settle(loss?: Failure): void {
    const location = this.#location
    if (location === undefined) {
      this.#finish(new Answer(this.#status, this.#headers, this.#body, this.#durationMs(), loss))
      return
    }
    this.#redirects++
    this.#status = 0
    this.#headers = {}
    this.#body = undefined
    this.#location = undefined
    if (this.#deps.isClosed) this.#finish({ kind: 'aborted' })
    else this.#visit(location)
  }

  #fail(error: unknown, isUnsent: boolean): void {
    if (this.#isDone) return
    if (this.#deps.isClosed) {
      this.#finish({ kind: 'aborted' })
    } else if (this.#status !== 0) {
      // The status came; whether it says what became of the event, or the lost body would, the caller knows.
      this.#settle(describeFailure(error))
    } else if (error instanceof EgressRefusedError) {
      const { refusal } = error
      this.#finish({ kind: 'refused', status: 403, text: BLOCKED_TEXT, refusal, durationMs: this.#durationMs() })
    } else if (isUnsent && isMalformedRequest(error)) {
      const { text } = failure(400, 'EINVAL', error.message)
      const refusal = { reason: 'malformed request' } as const
      this.#finish({ kind: 'refused', status: 400, text, refusal, durationMs: this.#durationMs() })
    } else {
      const { status, text, isTimeout } = describeFailure(error)
      this.#finish({ kind: 'no_answer', status, text, isTimeout, durationMs: this.#durationMs() })
    }
  }

  #timeOut(): void {
    // A redirect whose body does not end is no answer yet.
    if (this.#location !== undefined) this.#status = 0
    const controller = this.#controller
    this.#controller = undefined
    this.#location = undefined
    this.#fail(new TimedOutError('no answer in time'), false)
    controller?.abort(new TimedOutError('no answer in time'))
  }

  #refuseTarget(problem: 'malformed' | 'scheme'): void {
    const isMalformed = problem === 'malformed'
    const { text } = isMalformed
      ? failure(400, 'ERR_INVALID_URL', 'Invalid URL')
      : failure(400, 'ERR_INVALID_PROTOCOL', 'only http and https are supported')
    const refusal = { reason: isMalformed ? 'malformed URL' : 'scheme' } as const
    this.#finish({ kind: 'refused', status: 400, text, refusal, durationMs: this.#durationMs() })
  }

  /** Closes the current connection; nothing that it reports counts any more. */
  #release(reason: Error): void {
    const controller = this.#controller
    this.#controller = undefined
    controller?.abort(reason)
  }

  #finish(result: OutboundResult): void {
    if (this.#isDone) return
    this.#isDone = true
    if (this.#deadline !== undefined) this.#deps.deadlines.clear(this.#deadline)
    try {
      this.#onDone(result)
    } catch (error) {
      // Thrown into the connection it would vanish there.
      queueMicrotask(() => {
        throw error
      })
    }
  }

  #durationMs(): number {
    const { clock, callTimeoutMs } = this.#deps
    return clock.monotonic() - (this.#deadline!.due - callTimeoutMs)
  }
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'object' ? header[0] : header
}

const MALFORMED_REQUEST_CODES: readonly unknown[] = [
  'UND_ERR_INVALID_ARG',
  'UND_ERR_NOT_SUPPORTED',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
]

function isMalformedRequest(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && MALFORMED_REQUEST_CODES.includes(error.code)
}
