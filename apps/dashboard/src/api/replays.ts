import type { Replay, ReplayWritten } from '@millrace/api-types'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api } from './requests/client.ts'
import { reading, readingPages, useWriting } from './requests/reading.ts'
import { pollEvery } from './requests/retry.ts'

const REPLAYS = '/v2/replays'
const pathOf = (id: string) => `${REPLAYS}/${encodeURIComponent(id)}`

export function isRunning({ state }: Replay): boolean {
  return state === 'queued' || state === 'running'
}

/** Newest first; polled every 2 s while one runs. */
export function useReplays() {
  return useInfiniteQuery({
    ...readingPages<Replay>(REPLAYS, 'replays'),
    refetchInterval: ({ state }) => {
      const isMoving = state.data?.pages.some(({ elements }) => elements.some(isRunning))
      return pollEvery(isMoving === true ? 2000 : null)({ state })
    },
  })
}

/** Polled every second while it runs. */
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
  return useWriting((body: ReplayWritten) => api<{ replay: Replay }>('POST', REPLAYS, { body }), [REPLAYS])
}

export function useSteerReplay() {
  return useWriting(
    ({ id, to }: { id: string; to: 'pause' | 'resume' | 'cancel' }) =>
      api<{ replay: Replay }>('POST', `${pathOf(id)}/${to}`),
    [REPLAYS],
  )
}
