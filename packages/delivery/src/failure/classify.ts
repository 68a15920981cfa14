import type { AnswerClass } from '@millrace/protocol'
import type { Classify } from '../lane/prepared.ts'
import { type AnswerHeaders, type OutboundResult, unlessLost } from '../outbound/outbound-request.ts'
import type { Sign } from './outage.ts'

/** Of an answer that a destination's `classify` looks into, so much is read. @see contracts/delivery.md §2 [D604] */
export const JUDGED_ANSWER_BYTES = 1024 * 1024

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

/**
 * A result as its classification reads it. Where the body says what became of an event, an answer that lost it is no answer,
 * unless its status asks for another attempt anyway.
 */
export function readable(result: Ended, readsBody: boolean): Ended {
  return readsBody && classOfStatus(result.status) !== 'retry' ? unlessLost(result) : result
}

/** What a call tells of the destination; of an answer, the status that it stands for. */
export type Meaning =
  | Exclude<Ended, { kind: 'answer' }>
  | Pick<Extract<Ended, { kind: 'answer' }>, 'kind' | 'status' | 'durationMs'>

/** The destination's own judgement goes first. */
export function meaningOf(
  result: Ended,
  classify: Classify | undefined,
): { readonly answerClass: AnswerClass; readonly meaning: Meaning } {
  const { kind, status, durationMs } = result
  if (kind === 'no_answer' || kind === 'unauthorised') return { answerClass: 'retry', meaning: result }
  if (kind === 'refused') return { answerClass: 'abort', meaning: result }
  const own = classify?.({ status, headers: flatHeaders(result.headers), body: parsedBody(result.text) })
  if (typeof own === 'number') return { answerClass: classOfStatus(own), meaning: { kind, status: own, durationMs } }
  if (typeof own === 'object') {
    const text = `[EAUTH] :: ${own.unauthorised} (answered ${status})`
    return { answerClass: 'retry', meaning: { kind: 'unauthorised', status: 401, text, durationMs } }
  }
  return { answerClass: own ?? classOfStatus(status), meaning: result }
}

/** The result that people are shown: that of the call, or what kept the event from being sent. */
export function shownResult(result: Ended, meaning: Meaning): Ended {
  return meaning.kind === 'unauthorised' ? meaning : result
}

export function abortReason(result: Ended): string {
  if (result.kind !== 'answer') return result.text
  const { status } = result
  return classOfStatus(status) === 'delivered' ? `answered ${status} with an error` : `answered ${status}`
}

/** What an attempt that did not deliver says of the destination as a whole. */
export function signOf({ kind, status }: Exclude<Meaning, { kind: 'refused' }>): Sign {
  if (kind === 'unauthorised') return 'unauthorised'
  if (kind === 'no_answer' || status >= 500 || status < 200) return 'failed'
  return status === 401 || status === 403 ? 'refused' : 'good'
}

/** Whether an attempt that did not deliver says that the destination has too much to do. */
export function isOverload(result: Exclude<Meaning, { kind: 'refused' }>): boolean {
  return result.status === 429 || result.status === 503 || (result.kind === 'no_answer' && result.isTimeout)
}

export function flatHeaders(headers: AnswerHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

export function parsedBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
