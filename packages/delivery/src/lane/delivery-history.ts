import type { JourneyWrite } from '../store/flush.ts'

export interface Attempt {
  /** 1 is the first. */
  readonly n: number
  readonly at: string
  readonly durationMs: number
  readonly status: number
  readonly class: 'delivered' | 'retry' | 'abort'
  readonly text: string
}

/** A request as traces and dead letters show it: without secrets, without its body. */
export interface ShownRequest {
  readonly method: string
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
}

export interface RequestHistory extends ShownRequest {
  /** The first 5 and the last 15. */
  readonly attempts: Attempt[]
}

/** An attempt that failed and is repeated, as short as it is told of: events that wait share it. */
export interface Failed {
  /** Null: no answer came. */
  readonly status: number | null
  /** Why none came. */
  readonly noAnswer: string | null
}

/** What is kept of the attempts of one event at one destination. */
export interface DeliveryHistory {
  /** Undefined while the event waits without its payload: then they are on disk alone. */
  requests: RequestHistory[] | undefined
  /** What they count in the memory budget. */
  bytes: number
  /** Flushes that are to write them. */
  unwritten: number
  /** Requests of the event that are delivered already; they are not sent again. */
  deliveredRequests: number
  /** Attempts in all, over restarts. */
  attempts: number
  attemptsSinceStart: number
  /** Wall clock, for the store. */
  firstAttemptAt: number
  /** The same moment by the monotonic clock of this process. */
  firstAttempt: number
  /** What the last attempt came to; undefined before the first, and of an attempt of an earlier process. */
  lastFailed: Failed | undefined
  /** By the monotonic clock; undefined unless it waits for a retry. */
  due: number | undefined
  /** Answers 401 or 403, and how many events the destination had accepted at the first of them. */
  refusals: number
  deliveredAtFirstRefusal: number
}

const FIRST_KEPT = 5
const LAST_KEPT = 15

/** An attempt without its text. */
const ATTEMPT_BYTES = 200
const FAILED_TEXT_BYTES = 16 * 1024
const DELIVERED_TEXT_LENGTH = 256

/** What is kept of an answer's text, of which more may have been read to judge it. @see contracts/delivery.md §8 [D624] */
export function keptText(text: string, answerClass: Attempt['class']): string {
  if (answerClass === 'delivered') return text.slice(0, DELIVERED_TEXT_LENGTH)
  if (text.length * 3 <= FAILED_TEXT_BYTES) return text
  const bytes = Buffer.from(text)
  // As of a stream that goes on: a character that is cut in two is left out.
  return new TextDecoder().decode(bytes.subarray(0, FAILED_TEXT_BYTES), { stream: true })
}

/** Adds an attempt at one of the event's requests. @param show called for the first attempt at it. */
export function noteAttempt(
  history: DeliveryHistory,
  number: number,
  show: () => ShownRequest,
  attempt: Omit<Attempt, 'n'>,
): void {
  history.requests ??= []
  const { requests } = history
  requests[number] ??= { ...show(), attempts: [] }
  const { attempts } = requests[number]
  addAttempt(attempts, { n: (attempts.at(-1)?.n ?? 0) + 1, ...attempt })
}

/** Of the last request that was attempted. */
export function lastAttempt(history: DeliveryHistory | undefined): Attempt | undefined {
  return history?.requests?.findLast((request) => request !== undefined)?.attempts.at(-1)
}

/** Adds an attempt, keeping the first 5 and the last 15. */
export function addAttempt(attempts: Attempt[], attempt: Attempt): void {
  if (attempts.length >= FIRST_KEPT + LAST_KEPT) attempts.splice(FIRST_KEPT, 1)
  attempts.push(attempt)
}

/** Of an event whose first attempt has just ended. */
export function newHistory(startedAt: number, startedMonotonic: number): DeliveryHistory {
  return {
    requests: [],
    bytes: 0,
    unwritten: 0,
    deliveredRequests: 0,
    attempts: 0,
    attemptsSinceStart: 0,
    firstAttemptAt: startedAt,
    firstAttempt: startedMonotonic,
    lastFailed: undefined,
    due: undefined,
    refusals: 0,
    deliveredAtFirstRefusal: 0,
  }
}

/** Of an event that an earlier process attempted; what it attempted stays on disk. */
export function resumedHistory(wait: JourneyWrite, now: number, monotonic: number): DeliveryHistory {
  const firstAttemptAt = wait.firstAttemptAt ?? now
  return {
    ...newHistory(firstAttemptAt, monotonic - Math.max(0, now - firstAttemptAt)),
    requests: undefined,
    deliveredRequests: wait.deliveredRequests,
    attempts: wait.attempts,
  }
}

/** About what requests take in memory. */
export function historyBytes(requests: readonly RequestHistory[] | undefined): number {
  let bytes = 0
  for (const request of requests ?? []) {
    // The first requests may have been delivered at once.
    for (const { text } of request?.attempts ?? []) bytes += ATTEMPT_BYTES + text.length
  }
  return bytes
}

/** Time that does not count against an event, because it was not allowed to go. */
export function passOver(history: DeliveryHistory | undefined, ms: number): void {
  if (history === undefined) return
  history.firstAttempt += ms
  // Wall times are whole milliseconds; those of the monotonic clock are not.
  history.firstAttemptAt += Math.round(ms)
}
