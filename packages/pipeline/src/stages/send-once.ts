import { type OutboundClient, type OutboundRequest, type OutboundResult, TIMED_OUT } from '@millrace/delivery'

/** The way out, as far as a test needs it. */
export type Sender = Pick<OutboundClient, 'send'>

/** What a request brought: an answer, or status and text of ours that say why there is none. */
export type Answered = Exclude<OutboundResult, { kind: 'aborted' }>

/**
 * Stage delivery as a test makes it: each request once, one after the other, whatever the one before brought. A lane sends
 * the same requests over the same client, and adds order, retries and outcomes.
 *
 * @param signal ends the call under way; it and what was not sent by then count as timed out.
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
