import type { ListedEvent } from '@millrace/api-types'
import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect } from 'react'
import type { useEvents } from '../../api/events.ts'
import { reading } from '../../api/requests/reading.ts'

export const PAGE = 100
/** Maximum of automatic searches before the user is asked to continue. */
const MAX_EMPTY_PAGES = 5

export interface OlderEvents {
  /** Whether older rows may follow. */
  readonly hasMore: boolean
  /** The last page ended before it was full: the search reached the limit of one call. */
  readonly hasLookedBack: boolean
  /** Where the search continues, once known. */
  readonly lookedBackTo: string | undefined
  readonly isLoadingMore: boolean
  readonly loadMore: () => void
}

/**
 * How far back the list goes, and the way further back.
 *
 * @param past events read in pages of `PAGE`.
 */
export function useOlderEvents(past: ReturnType<typeof useEvents>): OlderEvents {
  const pages = past.data?.pages ?? []
  const last = pages.at(-1)
  const hasLookedBack = last !== undefined && last.paging.next !== '' && last.elements.length < PAGE
  const { fetchNextPage, isFetchingNextPage } = past
  // A busy server may find nothing within the time of one call, even if a match is near.
  const isNothingYet =
    hasLookedBack && pages.length < MAX_EMPTY_PAGES && pages.every(({ elements }) => elements.length === 0)
  useEffect(() => {
    if (isNothingYet && !isFetchingNextPage) void fetchNextPage()
  }, [isNothingYet, isFetchingNextPage, fetchNextPage])
  return {
    hasMore: past.hasNextPage,
    hasLookedBack: hasLookedBack && !isNothingYet,
    lookedBackTo: useTimeOfCursor(hasLookedBack ? last.paging.next : undefined),
    isLoadingMore: isFetchingNextPage,
    loadMore: useCallback(() => {
      if (!isFetchingNextPage) void fetchNextPage()
    }, [fetchNextPage, isFetchingNextPage]),
  }
}

/** A cursor is a place in the log, independent of filters: the event before it tells the time. */
function useTimeOfCursor(next: string | undefined): string | undefined {
  const cursor = next === undefined ? undefined : new URL(next, window.location.origin).searchParams.get('cursor')
  const { data } = useQuery({
    ...reading<{ events: ListedEvent[] }>('/v2/events', { cursor, limit: 1 }),
    enabled: typeof cursor === 'string',
    staleTime: Number.POSITIVE_INFINITY,
  })
  return typeof cursor === 'string' ? data?.events[0]?.acceptedAt : undefined
}
