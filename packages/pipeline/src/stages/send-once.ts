import { type OutboundClient, type OutboundRequest, type OutboundResult, TIMED_OUT } from '@millrace/delivery'

/** The part of the outbound client that a test needs. */
export type Sender = Pick<OutboundClient, 'send'>

/** The result of a request: an answer, or our status and text if there is no answer. */
export type Answered = Exclude<OutboundResult, { kind: 'aborted' }>

/**
 * Stage delivery for tests: sends each request once, in sequence, whether or not the previous one failed. A lane sends the
 * same requests over the same client, and adds order, retries and outcomes.
 *
 * @param signal aborts the current call; it and the unsent requests count as timed out.
 * @see contracts/test-api.md §10, §13 [D223, D226]
 */
export async function* sendOnce(
  requests: Iterable<OutboundRequest>,
  sender: Sender,
  signal: AbortSignal,
): AsyncGenerator<Answered> {
  for (const request of requests) yield signal.aborted ? timedOut : await answerTo(request, sender, signal)
}

const timedOut: Answered = { kind: 'no_answer', ...TIMED_OUT, durationMs: 0 }

function answerTo(request: OutboundRequest, sender: Sender, signal: AbortSignal): Promise<Answered> {
  return new Promise((resolve) => {
    const call = sender.send(request, (result) => {
      signal.removeEventListener('abort', stop)
      resolve(result.kind === 'aborted' ? timedOut : result)
    })
    const stop = () => call.abort()
    signal.addEventListener('abort', stop)
  })
}
