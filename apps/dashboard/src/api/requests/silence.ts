import { useSyncExternalStore } from 'react'

/** After this time without any answer the server counts as silent. */
const SILENT_MS = 3_000
/** Calls that may take long although the server works. */
const MAY_TAKE_LONG = /^\/v2\/(events|tail)\b/

const outstanding = new Set<{ readonly since: number }>()
let lastAnswerAt = Date.now()
/** Time of the last answer, if the server is silent; else null. */
let silentSince: number | null = null
let timer: ReturnType<typeof setTimeout> | undefined
const listeners = new Set<() => void>()

/** Records a request. @returns a function to call when it ends. */
export function noteAsked(method: string, path: string, signal?: AbortSignal): () => void {
  const call = { since: Date.now() }
  if (method === 'GET' && !MAY_TAKE_LONG.test(path)) outstanding.add(call)
  watch()
  return () => {
    outstanding.delete(call)
    if (signal?.aborted) watch()
    else noteAnswer()
  }
}

/** Start of the server's silence, ms since 1970; null while it answers. */
export function useSilentSince(): number | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => silentSince,
  )
}

function noteAnswer(): void {
  lastAnswerAt = Date.now()
  set(null)
  watch()
}

/** Checks again when the oldest call reaches the limit. */
function watch(): void {
  clearTimeout(timer)
  const [oldest] = outstanding
  if (oldest === undefined || silentSince !== null) return
  const at = Math.max(oldest.since, lastAnswerAt) + SILENT_MS
  timer = setTimeout(() => set(Math.max(oldest.since, lastAnswerAt)), Math.max(0, at - Date.now()))
}

function set(since: number | null): void {
  if (since === silentSince) return
  silentSince = since
  for (const listener of listeners) listener()
}
