import { STATUS_CODES } from 'node:http'
import type { LaneClient, OutboundCall, OutboundRequest, OutboundResult } from '@millrace/delivery'
import type { RemoteAnswer, RemoteRequest } from '@millrace/destinations'
import { UnitRequest } from './remote-units.ts'
import { uncompressed } from './uncompressed.ts'

/**
 * Sends what a lane gives it. For a unit of remote code, that is all requests which the code makes, one after the other or at
 * once; the lane gets one result for the unit.
 */
export class RemoteClient implements LaneClient {
  readonly #client: LaneClient
  readonly #now: () => number

  /** @param now monotonic, in ms. */
  constructor(client: LaneClient, now: () => number) {
    this.#client = client
    this.#now = now
  }

  send(request: OutboundRequest, onDone: (result: OutboundResult) => void): OutboundCall {
    if (!(request instanceof UnitRequest)) return this.#client.send(request, onDone)
    const calls = new Set<OutboundCall>()
    let isAborted = false
    const send = (each: RemoteRequest) => {
      if (isAborted) return Promise.resolve({ noAnswer: 'aborted' })
      return this.#sendOne(request, each, calls)
    }
    const startedAt = this.#now()
    void request.deliver(send).then((outcome) => {
      if (!isAborted) onDone(request.resultOf(outcome, this.#now() - startedAt))
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

  #sendOne(unit: UnitRequest, request: RemoteRequest, calls: Set<OutboundCall>): Promise<RemoteAnswer> {
    const kept = unit.keptAnswer(request)
    if (kept !== undefined) return Promise.resolve(kept)
    const { promise, resolve } = Promise.withResolvers<RemoteAnswer>()
    const call = this.#client.send(unit.outbound(request), (result) => {
      calls.delete(call)
      void answerOf(result).then((answer) => {
        unit.note(request, result, answer)
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
