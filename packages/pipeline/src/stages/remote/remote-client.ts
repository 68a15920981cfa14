import {
  type LaneClient,
  type OutboundCall,
  type OutboundRequest,
  type OutboundResult,
  TIMED_OUT,
  unlessLost,
} from '@millrace/delivery'
import type { RemoteAnswer, RemoteRequest } from '@millrace/destinations'
import type { Clock } from '@millrace/std'
import { STATUS_CODES } from '@millrace/std/node-http'
import { uncompressed } from '../uncompressed.ts'
import { CodeRequest } from './remote-request.ts'

/**
 * Sends what a lane gives it. For a run of remote code, that is all requests which the code makes, one after the other or at
 * once; the lane gets one result for the run.
 */
export class RemoteClient implements LaneClient {
  readonly #client: LaneClient
  readonly #clock: Clock

  constructor(client: LaneClient, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  send(request: OutboundRequest, onDone: (result: OutboundResult) => void): OutboundCall {
    if (!(request instanceof CodeRequest)) return this.#client.send(request, onDone)
    const calls = new Set<OutboundCall>()
    let isAborted = false
    const send = (each: RemoteRequest) => {
      if (isAborted) return Promise.resolve({ noAnswer: 'aborted' })
      return this.#sendOne(request, each, calls)
    }
    const startedAt = this.#clock.monotonic()
    void request.deliver(send).then(() => {
      if (!isAborted) onDone(request.result(this.#clock.monotonic() - startedAt))
    })
    return {
      abort: () => {
        if (isAborted) return
        isAborted = true
        for (const call of calls) call.abort()
        onDone({ kind: 'aborted' })
      },
    }
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  #sendOne(run: CodeRequest, request: RemoteRequest, calls: Set<OutboundCall>): Promise<RemoteAnswer> {
    const kept = run.keptAnswer(request)
    if (kept !== undefined) return Promise.resolve(kept)
    const { promise, resolve } = Promise.withResolvers<RemoteAnswer>()
    const startedAt = this.#clock.monotonic()
    let isLate = false
    // The code says how long it waits; the client has a limit of its own.
    const timer = this.#clock.setTimer(() => {
      isLate = true
      call.abort()
    }, request.timeoutMs)
    const call = this.#client.send(run.outbound(request), (ended) => {
      timer.cancel()
      calls.delete(call)
      const late = { kind: 'no_answer', ...TIMED_OUT, durationMs: this.#clock.monotonic() - startedAt } as const
      // For the code, as for any caller of `fetch`, a body that breaks off is a failure.
      const result = isLate ? late : unlessLost(ended)
      void answerOf(result).then((answer) => {
        run.note(request, result, answer)
        resolve(answer)
      })
    })
    calls.add(call)
    return promise
  }
}

/** What the code is told of a result. */
async function answerOf(result: OutboundResult): Promise<RemoteAnswer> {
  if (result.kind === 'aborted') return { noAnswer: 'aborted' }
  if (result.kind !== 'answer') return { noAnswer: result.text }
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(result.headers)) {
    if (value !== undefined) headers[name] = typeof value === 'string' ? value : value.join(', ')
  }
  const body = await uncompressed(result.bytes, headers['content-encoding'])
  if (typeof body === 'string') return { noAnswer: `the answer is ${body}` }
  const { status } = result
  return { status, statusText: STATUS_CODES[status] ?? '', headers, body: new TextDecoder().decode(body) }
}
