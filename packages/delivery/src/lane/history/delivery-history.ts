import type { JourneyWrite } from '../../store/outcomes/flush.ts'
import type { Attempt, RequestHistory, ShownRequest } from './request-history.ts'

/** Summary of a failed attempt that is retried; waiting events share it. */
export interface Failed {
  /** Null without an answer. */
  readonly status: number | null
  /** The reason if there was no answer. */
  readonly noAnswer: string | null
}

/** The attempts of one event at one destination. */
export interface DeliveryHistory {
  /** Undefined while the event is unloaded: they are then on disk only. */
  requests: RequestHistory[] | undefined
  /** Their size in the memory budget. */
  bytes: number
  /** Number of pending flushes that include them. */
  unwritten: number
  /** Number of delivered requests of the event; they are not sent again. */
  deliveredRequests: number
  /** Total attempts, including those before a restart. */
  attempts: number
  attemptsSinceStart: number
  /** By the wall clock, for the store. */
  firstAttemptAt: number
  /** The same moment by the monotonic clock of this process. */
  firstAttempt: number
  /** The last failed attempt; undefined before the first one, and for attempts before a restart. */
  lastFailed: Failed | undefined
  /** Time of the next retry by the monotonic clock; undefined if none is scheduled. */
  due: number | undefined
  /** Number of answers 401 or 403, and how many events the destination had accepted at the first of them. */
  refusals: number
  deliveredAtFirstRefusal: number
}

const FIRST_KEPT = 5
const LAST_KEPT = 15

/** Memory of an attempt without its text. */
const ATTEMPT_BYTES = 200
const FAILED_TEXT_BYTES = 16 * 1024
const DELIVERED_TEXT_LENGTH = 256

/** Truncates an answer's text for storage. @see contracts/delivery.md §8 [D624] */
export function keptText(text: string, answerClass: Attempt['class']): string {
  if (answerClass === 'delivered') return text.slice(0, DELIVERED_TEXT_LENGTH)
  if (text.length * 3 <= FAILED_TEXT_BYTES) return text
  const bytes = Buffer.from(text)
  // `stream` drops a character that is cut in half.
  return new TextDecoder().decode(bytes.subarray(0, FAILED_TEXT_BYTES), { stream: true })
}

/** Adds an attempt to one of the event's requests. @param show called for the first attempt of a request. */
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

/** The last attempt of the last request. */
export function lastAttempt(history: DeliveryHistory | undefined): Attempt | undefined {
  return history?.requests?.findLast((request) => request !== undefined)?.attempts.at(-1)
}

/** Adds an attempt, keeping the first 5 and the last 15. */
export function addAttempt(attempts: Attempt[], attempt: Attempt): void {
  if (attempts.length >= FIRST_KEPT + LAST_KEPT) attempts.splice(FIRST_KEPT, 1)
  attempts.push(attempt)
}

/** History of an event whose first attempt has just ended. */
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

/** History of an event that was attempted before a restart; those attempts stay on disk. */
export function resumedHistory(wait: JourneyWrite, now: number, monotonic: number): DeliveryHistory {
  const firstAttemptAt = wait.firstAttemptAt ?? now
  return {
    ...newHistory(firstAttemptAt, monotonic - Math.max(0, now - firstAttemptAt)),
    requests: undefined,
    deliveredRequests: wait.deliveredRequests,
    attempts: wait.attempts,
  }
}

/** Estimated memory of requests. */
export function historyBytes(requests: readonly RequestHistory[] | undefined): number {
  let bytes = 0
  for (const request of requests ?? []) {
    // The first requests have no entry if they were delivered at the first attempt.
    for (const { text } of request?.attempts ?? []) bytes += ATTEMPT_BYTES + text.length
  }
  return bytes
}

/** Excludes time in which the event was not allowed to be sent. */
export function passOver(history: DeliveryHistory | undefined, ms: number): void {
  if (history === undefined) return
  history.firstAttempt += ms
  // Wall times are whole milliseconds; those of the monotonic clock are not.
  history.firstAttemptAt += Math.round(ms)
}
