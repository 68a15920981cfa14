import type { EventType } from '@millrace/protocol/event'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api } from './client.ts'
import type { Outcome } from './events.ts'
import { reading, readingPages, useWriting } from './reading.ts'
import { pollEvery } from './retry.ts'

export type ReplayState = 'queued' | 'running' | 'paused' | 'done' | 'cancelled' | 'failed'

/** A job over the log or over dead letters. @see contracts/delivery.md §7 */
export interface Replay {
  readonly id: string
  readonly origin: 'log' | 'dead_letters'
  readonly kind: 'replay' | 'discard'
  readonly dryRun: boolean
  readonly state: ReplayState
  /** Null until counted. */
  readonly matched: number | null
  readonly taken: number
  readonly delivered: number
  readonly filtered: number
  readonly deadLettered: number
  readonly discarded: number
  readonly sourceIds: readonly string[]
  readonly destinationIds: readonly string[]
  readonly from: string | null
  readonly to: string | null
  readonly rateEventsPerSecond: number
  readonly createdBy: string
  readonly createdAt: string
  readonly finishedAt: string | null
}

export interface ReplayAsked {
  readonly sourceIds: readonly string[]
  readonly destinationIds: readonly string[]
  readonly from: string
  readonly to: string
  readonly filter?: {
    readonly types?: readonly EventType[]
    readonly events?: readonly string[]
    readonly userIds?: readonly string[]
    readonly messageIds?: readonly string[]
    readonly outcomes?: readonly Outcome[]
  }
  readonly rateEventsPerSecond?: number
  readonly dryRun?: boolean
}

const REPLAYS = '/v2/replays'
const pathOf = (id: string) => `${REPLAYS}/${encodeURIComponent(id)}`

export function isRunning({ state }: Replay): boolean {
  return state === 'queued' || state === 'running'
}

/** Newest first; read again every 2 s while one runs. */
export function useReplays() {
  return useInfiniteQuery({
    ...readingPages<Replay>(REPLAYS, 'replays'),
    refetchInterval: ({ state }) => {
      const isMoving = state.data?.pages.some(({ elements }) => elements.some(isRunning))
      return pollEvery(isMoving === true ? 2000 : null)({ state })
    },
  })
}

/** Read again every second while it runs. */
export function useReplay(id: string | undefined) {
  return useQuery({
    ...reading<{ replay: Replay }>(pathOf(id ?? '')),
    select: ({ replay }) => replay,
    enabled: id !== undefined,
    refetchInterval: ({ state }) => {
      const replay = state.data?.replay
      return pollEvery(replay !== undefined && isRunning(replay) ? 1000 : null)({ state })
    },
  })
}

/** A range that begins before the log is refused with details `{availableFrom}`. */
export function useStartReplay() {
  return useWriting((body: ReplayAsked) => api<{ replay: Replay }>('POST', REPLAYS, { body }), [REPLAYS])
}

export function useSteerReplay() {
  return useWriting(
    ({ id, to }: { id: string; to: 'pause' | 'resume' | 'cancel' }) =>
      api<{ replay: Replay }>('POST', `${pathOf(id)}/${to}`),
    [REPLAYS],
  )
}
