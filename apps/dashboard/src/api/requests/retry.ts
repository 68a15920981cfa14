import { ApiError } from './failure.ts'

const SECOND = 1000
const AFTER_MS = { connection: 3 * SECOND, server: 10 * SECOND, rate: 10 * SECOND }
const MAX_MS = 60 * SECOND

/** Time until a failed request is retried; null if only a person can correct it. */
export function nextTryMs(error: unknown): number | null {
  if (!(error instanceof ApiError)) return null
  const { kind, retryAfterS } = error
  if (kind !== 'connection' && kind !== 'server' && kind !== 'rate') return null
  if (retryAfterS === null) return AFTER_MS[kind]
  return Math.min(Math.max(retryAfterS, 1) * SECOND, MAX_MS)
}

/** For `refetchInterval`: retries temporary failures; otherwise reads every `everyMs`, or never for null. */
export function pollEvery(everyMs: number | null) {
  return ({ state }: { readonly state: { readonly status: string; readonly error: unknown } }): number | false =>
    (state.status === 'error' ? nextTryMs(state.error) : everyMs) ?? false
}
