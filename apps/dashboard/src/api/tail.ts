import { useEffect, useRef, useState } from 'react'
import type { EventFilters } from './events.ts'
import { apiStream } from './requests/client.ts'
import { ApiError } from './requests/failure.ts'
import { nextTryMs } from './requests/retry.ts'
import { type TailMessage, tailMessages } from './tail-messages.ts'

/** `full`: 20 listeners are connected; `cut`: no answer, retried automatically; `closed`: the page is hidden. */
export type TailState = 'connecting' | 'open' | 'full' | 'cut' | 'closed'

const HIDDEN_FOR_MS = 60_000
const FULL_AGAIN_MS = 30_000
const CUT_AGAIN_MS = 2000

/**
 * Watches new events and outcomes while the component is visible. After a tab was hidden for 60 s, the stream is closed
 * until the tab is visible again.
 *
 * @param onMessages called at most ten times a second, with all new messages.
 * @see contracts/dashboard.md §6
 */
export function useTail(
  filters: EventFilters,
  onMessages: (messages: readonly TailMessage[]) => void,
  { isOpen = true }: { isOpen?: boolean } = {},
): TailState {
  const [state, setState] = useState<TailState>('closed')
  const isAwake = useIsAwake()
  const listener = useRef(onMessages)
  listener.current = onMessages
  // A text, so that an equal filter object does not open another stream.
  const query = JSON.stringify(filters)

  useEffect(() => {
    if (!isOpen || !isAwake) {
      setState('closed')
      return
    }
    const ending = new AbortController()
    void watch(JSON.parse(query) as EventFilters, ending.signal, setState, (messages) => listener.current(messages))
    return () => ending.abort()
  }, [isOpen, isAwake, query])

  return state
}

async function watch(
  filters: EventFilters,
  signal: AbortSignal,
  setState: (state: TailState) => void,
  onMessages: (messages: readonly TailMessage[]) => void,
): Promise<void> {
  const tell = (state: TailState) => {
    if (!signal.aborted) setState(state)
  }
  while (!signal.aborted) {
    tell('connecting')
    let waitMs = CUT_AGAIN_MS
    try {
      const response = await apiStream('/v2/tail', { ...filters }, signal)
      tell('open')
      await deliver(tailMessages(response.body!.getReader()), signal, onMessages)
      tell('cut')
    } catch (error) {
      if (signal.aborted) return
      const isFull = error instanceof ApiError && error.message === 'Too many listeners'
      tell(isFull ? 'full' : 'cut')
      const tryMs = nextTryMs(error)
      if (error instanceof ApiError && tryMs === null) return
      waitMs = isFull ? FULL_AGAIN_MS : (tryMs ?? CUT_AGAIN_MS)
    }
    await pause(waitMs, signal)
  }
}

/** At 50 messages a second the page would otherwise render 50 times. */
async function deliver(
  messages: AsyncIterable<TailMessage>,
  signal: AbortSignal,
  onMessages: (messages: readonly TailMessage[]) => void,
): Promise<void> {
  let waiting: TailMessage[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    timer = undefined
    const all = waiting
    waiting = []
    if (!signal.aborted) onMessages(all)
  }
  try {
    for await (const message of messages) {
      waiting.push(message)
      timer ??= setTimeout(flush, 100)
    }
  } finally {
    clearTimeout(timer)
    if (waiting.length > 0) flush()
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        resolve()
      },
      { once: true },
    )
  })
}

/** False after the tab was hidden for 60 s, until it is visible. */
function useIsAwake(): boolean {
  const [isAwake, setIsAwake] = useState(true)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const onChange = () => {
      clearTimeout(timer)
      if (document.visibilityState === 'hidden') timer = setTimeout(() => setIsAwake(false), HIDDEN_FOR_MS)
      else setIsAwake(true)
    }
    document.addEventListener('visibilitychange', onChange)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onChange)
    }
  }, [])
  return isAwake
}
