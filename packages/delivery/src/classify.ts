import type { Classify } from './lane-options.ts'
import type { AnswerHeaders, OutboundResult } from './outbound/outbound-request.ts'

/** Of an answer that a destination's `classify` looks into, so much is read. @see contracts/delivery.md §2 [D604] */
export const JUDGED_ANSWER_BYTES = 1024 * 1024

export type AnswerClass = 'delivered' | 'retry' | 'abort'

/**
 * What a status means for the event. @see contracts/delivery.md §2 [D602]
 */
export function classOfStatus(status: number): AnswerClass {
  if (status >= 200 && status < 300) return 'delivered'
  if (status >= 500 || status < 200) return 'retry'
  return status === 401 || status === 403 || status === 408 || status === 429 ? 'retry' : 'abort'
}

/** A call that came to an end of its own. */
export type Ended = Exclude<OutboundResult, { kind: 'aborted' }>

/** The destination's own judgement goes first. */
export function classOf(result: Ended, classify: Classify | undefined): AnswerClass {
  if (result.kind === 'no_answer') return 'retry'
  if (result.kind === 'refused') return 'abort'
  const own = classify?.({ status: result.status, headers: flat(result.headers), body: parsed(result.text) })
  return own ?? classOfStatus(result.status)
}

export function abortReason(result: Ended): string {
  if (result.kind !== 'answer') return result.text
  const { status } = result
  return classOfStatus(status) === 'delivered' ? `answered ${status} with an error` : `answered ${status}`
}

function flat(headers: AnswerHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
