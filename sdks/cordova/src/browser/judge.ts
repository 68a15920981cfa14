import type { Answer } from './http.ts'

export type Verdict = 'accepted' | 'refused' | 'later' | 'KEY_REJECTED' | 'NOT_FOUND' | 'WRONG_ADDRESS'

const MAX_RETRY_AFTER_MS = 3_600_000

/** What an answer means: by its status and two headers, never by its text. @see contracts/cordova-sdk.md §15.2 */
export function judged({ httpStatus: status }: Answer): Verdict {
  if (status >= 200 && status < 300) return 'accepted'
  if ([400, 413, 422].includes(status)) return 'refused'
  if ([408, 425, 429].includes(status) || status >= 500 || status < 200) return 'later'
  if (status === 401 || status === 403) return 'KEY_REJECTED'
  return status === 404 ? 'NOT_FOUND' : 'WRONG_ADDRESS'
}

/** Which event of a refused batch the server named, if it did. */
export function refusedOf<Row>(rows: readonly Row[], { header }: Answer): Row | undefined {
  const index = header(INDEX_HEADER) || ''
  return /^\d+$/.test(index) ? rows[+index] : undefined
}

export const INDEX_HEADER = 'X-Millrace-Event-Index'

/** Seconds or an HTTP date; 0 when it is neither, at most an hour. */
export function retryAfterMs({ header }: Answer, now: number): number {
  const value = (header('Retry-After') || '').trim()
  const ms = /^\d+$/.test(value) ? +value * 1000 : Date.parse(value) - now
  return Math.min(MAX_RETRY_AFTER_MS, Math.max(0, ms || 0))
}
