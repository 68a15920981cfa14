import type { Answer } from './transport.ts'

export type Verdict =
  | { readonly kind: 'accepted' }
  /** The server named the event that it does not take. */
  | { readonly kind: 'refused-one'; readonly index: number }
  | { readonly kind: 'refused' }
  | { readonly kind: 'later'; readonly retryAfterMs: (now: number) => number }
  | { readonly kind: 'stop'; readonly reason: 'KEY_REJECTED' | 'NOT_FOUND' | 'WRONG_ADDRESS' }

const LONGEST_RETRY_AFTER_MS = 3_600_000

/** What an answer means: by its status and two headers, never by its text. @see contracts/cordova-sdk.md §15.2 */
export function judged({ status, header }: Pick<Answer, 'status' | 'header'>, events: number): Verdict {
  if (status >= 200 && status < 300) return { kind: 'accepted' }
  if (status === 400 || status === 413 || status === 422) {
    const index = header('X-Millrace-Event-Index') ?? ''
    return /^\d+$/.test(index) && Number(index) < events
      ? { kind: 'refused-one', index: Number(index) }
      : { kind: 'refused' }
  }
  if (status === 408 || status === 425 || status === 429 || status >= 500 || status < 200) {
    return { kind: 'later', retryAfterMs: (now) => retryAfterMs(header('Retry-After'), now) }
  }
  if (status === 401 || status === 403) return { kind: 'stop', reason: 'KEY_REJECTED' }
  return { kind: 'stop', reason: status === 404 ? 'NOT_FOUND' : 'WRONG_ADDRESS' }
}

/** Seconds or an HTTP date; 0 when it is neither, at most an hour. */
function retryAfterMs(text: string | null, now: number): number {
  const value = text?.trim() ?? ''
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now
  return Number.isFinite(ms) ? Math.min(LONGEST_RETRY_AFTER_MS, Math.max(0, ms)) : 0
}
