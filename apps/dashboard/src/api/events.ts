import type { EventType } from '@millrace/protocol/event'
import type { JsonObject } from '@millrace/protocol/json'
import type { Waiting } from '@millrace/wording'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, pathWith } from './client.ts'
import { type Paging, reading, readingPages } from './reading.ts'
import { pollEvery } from './retry.ts'
import type { RequestObject } from './test-api.ts'

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
] as const
export type Outcome = (typeof OUTCOMES)[number]

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

/** One accepted event, without its payload. */
export interface ListedEvent {
  readonly messageId: string
  readonly sourceId: string
  readonly acceptedAt: string
  readonly type: EventType
  readonly name: string | null
  readonly userId: string | null
  readonly anonymousId: string | null
  readonly outcomes: readonly {
    readonly destinationId: string
    readonly outcome: Outcome
    readonly reason: string | null
    /** Of one without a final outcome. */
    readonly waiting?: Waiting
  }[]
}

/** Newest first. A page may be empty although older events follow: one call looks back over at most a second. */
export function useEvents(
  filters: EventFilters & { from?: string; to?: string; limit?: number },
  options: { isEnabled?: boolean } = {},
) {
  return useInfiniteQuery({
    ...readingPages<ListedEvent>('/v2/events', 'events', { ...filters }),
    enabled: options.isEnabled ?? true,
  })
}

/** One call looks back over at most a second, and may find nothing although there is something older. */
const MAX_LOOKS = 10

/** The newest ones only; for choosing one, and where the stream of new ones is not to be had. */
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

/** One accepted event with its journey to each destination. */
export interface EventTrace {
  readonly messageId: string
  readonly sourceId: string
  readonly acceptedAt: string
  readonly position: string
  readonly event: JsonObject
  readonly destinations: readonly Journey[]
}

export interface Journey {
  readonly destinationId: string
  readonly outcome: Outcome
  readonly reason: string | null
  readonly replayId: string | null
  readonly transformationVersionIds: readonly string[]
  readonly configRevision: number | null
  readonly requests: readonly TracedRequest[]
  /** Of a retrying one. */
  readonly nextAttemptAt?: string
  /** messageId of the event that a blocked one waits behind. */
  readonly blockedBy?: string
  /** Of one without a final outcome. */
  readonly waiting?: Waiting
  /** Only for the destination that was asked to be rendered. */
  readonly rendered?: Rendered
}

export interface TracedRequest {
  readonly method?: string
  readonly endpoint?: string
  /** Not kept, but recreated from the stored event with the recorded versions. */
  readonly rendered?: true
  readonly attempts: readonly Attempt[]
}

export interface Attempt {
  readonly n: number
  readonly at: string
  readonly durationMs: number
  readonly status: number
  readonly class: 'delivered' | 'retry' | 'abort'
  readonly text: string | null
}

/** What the steps of one destination make of the event. @see contracts/dashboard.md §4 N7 */
export interface Rendered {
  /** Whether the versions of the time could still be used. */
  readonly versions: 'recorded' | 'today'
  readonly steps: readonly {
    readonly transformationId: string
    readonly versionId: string
    readonly output: readonly JsonObject[]
    readonly error: string | null
  }[]
  readonly requests: readonly RequestObject[]
}

const readingTrace = (messageId: string, query: { sourceId?: string; render?: string } = {}) =>
  reading<{ events: EventTrace[] }>(`/v2/events/${encodeURIComponent(messageId)}`, query)

/** Every accepted event with this messageId; read again every two seconds while one of them is on its way. */
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

/** The same with what one destination makes of them. Read when it is asked for and not by itself: it runs code again. */
export function useRenderedTrace(messageId: string, query: { sourceId: string; render: string }) {
  return useQuery({
    ...readingTrace(messageId, query),
    select: ({ events }) => events,
    refetchOnWindowFocus: false,
  })
}

/** The payload of an accepted event, which never changes; null when it is no longer kept. */
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
