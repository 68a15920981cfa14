import type { EventTrace, EventType, ListedEvent, Outcome, Paging } from '@millrace/api-types'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, pathWith } from './requests/client.ts'
import { reading, readingPages } from './requests/reading.ts'
import { pollEvery } from './requests/retry.ts'

export const OUTCOMES = [
  'pending',
  'blocked',
  'throttled',
  'retrying',
  'delivered',
  'filtered',
  'dropped_by_transformation',
  'duplicate',
  'dead_lettered',
  'discarded',
  'expired',
] as const satisfies readonly Outcome[]

/** @see contracts/delivery.md §8, dashboard.md §4 N7 */
export interface EventFilters {
  readonly sourceId?: string
  readonly type?: EventType
  readonly name?: string
  readonly notName?: string
  readonly userId?: string
  readonly anonymousId?: string
  readonly outcome?: Outcome
  readonly destinationId?: string
}

/** Newest first. A page may be empty although older events follow: one call searches for at most a second. */
export function useEvents(
  filters: EventFilters & { from?: string; to?: string; limit?: number },
  options: { isEnabled?: boolean } = {},
) {
  return useInfiniteQuery({
    ...readingPages<ListedEvent>('/v2/events', 'events', { ...filters }),
    enabled: options.isEnabled ?? true,
  })
}

/** One call searches for at most a second, and may find nothing although there are older matches. */
const MAX_LOOKS = 10

/** Only the newest events; to choose one, or if the stream of new events is not available. */
export function useRecentEvents(
  filters: EventFilters & { limit?: number },
  options: { pollMs?: number; isEnabled?: boolean } = {},
) {
  const query = { limit: 50, ...filters }
  return useQuery({
    queryKey: ['/v2/events', 'recent', query],
    queryFn: async ({ signal }): Promise<readonly ListedEvent[]> => {
      let next = pathWith('/v2/events', query)
      for (let look = 0; next !== '' && look < MAX_LOOKS; look++) {
        const { body } = await api<{ events: ListedEvent[]; paging: Paging }>('GET', next, { signal })
        if (body.events.length > 0) return body.events
        next = body.paging.next
      }
      return []
    },
    refetchInterval: pollEvery(options.pollMs ?? null),
    enabled: options.isEnabled ?? true,
  })
}

const readingTrace = (messageId: string, query: { sourceId?: string; render?: string } = {}) =>
  reading<{ events: EventTrace[] }>(`/v2/events/${encodeURIComponent(messageId)}`, query)

/** Every accepted event with this messageId; polled every two seconds while one of them is in progress. */
export function useEventTrace(messageId: string) {
  return useQuery({
    ...readingTrace(messageId),
    select: ({ events }) => events,
    refetchInterval: ({ state }) => {
      const isMoving = state.data?.events.some(({ destinations }) =>
        destinations.some(({ outcome }) => isOnItsWay(outcome)),
      )
      return pollEvery(isMoving ? 2000 : null)({ state })
    },
  })
}

/** The same with the results of one destination's code. Read on request only: it runs code again. */
export function useRenderedTrace(messageId: string, query: { sourceId: string; render: string }) {
  return useQuery({
    ...readingTrace(messageId, query),
    select: ({ events }) => events,
    refetchOnWindowFocus: false,
  })
}

/** The payload of an accepted event, which never changes; null if it is no longer stored. */
export function useEventPayload(messageId: string | undefined) {
  return useQuery({
    ...readingTrace(messageId ?? ''),
    select: ({ events }) => events[0]?.event ?? null,
    staleTime: Number.POSITIVE_INFINITY,
    enabled: messageId !== undefined,
  })
}

function isOnItsWay(outcome: Outcome): boolean {
  return outcome === 'pending' || outcome === 'blocked' || outcome === 'throttled' || outcome === 'retrying'
}
