import type { ListedEvent } from '@millrace/api-types'
import { useCallback, useEffect, useMemo, useReducer, useRef } from 'react'
import { useEvents, useRecentEvents } from '../../api/events.ts'
import { type TailState, useTail } from '../../api/tail.ts'
import type { TailMessage } from '../../api/tail-messages.ts'
import type { ReadState } from '../../components/states/read-state.ts'
import type { AskedEvents } from './events-search.ts'
import { NO_LIVE_EVENTS, nextLiveEvents, shownRows } from './live-events.ts'
import { type OlderEvents, PAGE, useOlderEvents } from './use-older-events.ts'

const MAX_PAGE = 500
/** Poll interval if the stream is unavailable, or does not identify the events. */
const POLL_MS = 5000
const TOLD_AGAIN_MS = 1000

export interface EventStream extends OlderEvents {
  readonly reading: ReadState<unknown>
  readonly rows: readonly ListedEvent[]
  /** New rows that are not shown yet. */
  readonly waiting: number
  readonly skipped: number
  readonly tail: TailState
  readonly release: () => void
}

/**
 * Past and new events in one list, newest first.
 *
 * @param isHeld whether new rows wait, because the user reads further down or has paused.
 * @see contracts/dashboard.md §6
 */
export function useEventStream(
  asked: AskedEvents,
  { isLive, isHeld }: { isLive: boolean; isHeld: boolean },
): EventStream {
  const { from, to, ...filters } = asked
  const past = useEvents({ ...asked, limit: PAGE })
  const [live, step] = useReducer(nextLiveEvents, NO_LIVE_EVENTS)
  const isHeldNow = useRef(isHeld)
  isHeldNow.current = isHeld

  // A stream filtered by outcome or destination reports outcomes without their events.
  const isByOutcome = filters.outcome !== undefined || filters.destinationId !== undefined
  const recheck = useRef<() => void>(undefined)
  const onMessages = useCallback(
    (messages: readonly TailMessage[]) => {
      step({ kind: 'messages', messages, isHeld: isHeldNow.current })
      if (isByOutcome && messages.some(({ kind }) => kind === 'outcome')) recheck.current?.()
    },
    [isByOutcome],
  )
  const tail = useTail(filters, onMessages, { isOpen: isLive })
  const isFull = isLive && tail === 'full'
  const isRecentUsed = isLive && (isFull || isByOutcome)
  const isBehind = live.skipped > 0
  const recent = useRecentEvents(
    { ...filters, limit: isRecentUsed ? PAGE : MAX_PAGE },
    { isEnabled: isRecentUsed || isBehind, ...(isFull || isBehind ? { pollMs: POLL_MS } : {}) },
  )
  recheck.current = useAtMostEvery(TOLD_AGAIN_MS, recent.refetch)

  const query = JSON.stringify(asked)
  const begunWith = useRef(query)
  useEffect(() => {
    if (begunWith.current !== query) step({ kind: 'begun' })
    begunWith.current = query
  }, [query])
  useEffect(() => {
    if (recent.data === undefined) return
    const events = inRange(recent.data, from, to)
    if (isRecentUsed) step({ kind: 'listed', events, isHeld: isHeldNow.current })
    else step({ kind: 'caught-up', events })
  }, [isRecentUsed, recent.data, from, to])

  // Reads again the events between the last read and the stream, and those of an interruption; also after the server
  // was away.
  const { refetch } = past
  useEffect(() => {
    if (tail === 'open') step({ kind: 'opened' })
    if (tail === 'open' || tail === 'cut') void refetch()
  }, [tail, refetch])

  const pages = past.data?.pages
  const listed = useMemo(() => pages?.flatMap(({ elements }) => elements) ?? [], [pages])
  const firstPage = pages?.[0]
  useEffect(() => {
    if (firstPage !== undefined) step({ kind: 'read' })
  }, [firstPage])
  const rows = useMemo(() => shownRows(live, listed), [live, listed])
  return {
    ...useOlderEvents(past),
    reading: past,
    rows,
    waiting: live.waiting.length,
    skipped: live.skipped,
    tail: isLive ? tail : 'closed',
    release: useCallback(() => step({ kind: 'released' }), []),
  }
}

function inRange(events: readonly ListedEvent[], from: string | undefined, to: string | undefined) {
  const [first, end] = [Date.parse(from ?? ''), Date.parse(to ?? '')]
  return events.filter(({ acceptedAt }) => !(Date.parse(acceptedAt) < first) && !(Date.parse(acceptedAt) >= end))
}

/** Runs at once, and if called again meanwhile, once more at the end of the interval. */
function useAtMostEvery(ms: number, run: () => unknown): () => void {
  const latest = useRef(run)
  latest.current = run
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const isAsked = useRef(false)
  useEffect(() => () => clearTimeout(timer.current), [])
  return useCallback(() => {
    const go = () => {
      isAsked.current = false
      latest.current()
      timer.current = setTimeout(() => {
        timer.current = undefined
        if (isAsked.current) go()
      }, ms)
    }
    isAsked.current = true
    if (timer.current === undefined) go()
  }, [ms])
}
