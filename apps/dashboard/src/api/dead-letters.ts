import type {
  DeadLetter,
  DeadLetterGroup,
  DeadLetterState,
  DeadLetterWithPayloads,
  Stage,
  StartedReplay,
} from '@millrace/api-types'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api } from './requests/client.ts'
import { reading, readingPages, useWriting } from './requests/reading.ts'
import { pollEvery } from './requests/retry.ts'

export const STAGES = [
  'user_transformation',
  'dest_transformation',
  'delivery',
  'internal',
] as const satisfies readonly Stage[]
export const DEAD_LETTER_STATES = [
  'open',
  'replaying',
  'resolved',
  'discarded',
] as const satisfies readonly DeadLetterState[]

/** @see contracts/delivery.md §6 */
export interface DeadLetterFilters {
  readonly destinationId?: string
  readonly sourceId?: string
  readonly stage?: Stage
  readonly reason?: string
  /** Default `open`. */
  readonly state?: DeadLetterState
  readonly userId?: string
  readonly messageId?: string
  readonly from?: string
  readonly to?: string
}

const DEAD_LETTERS = '/v2/dead-letters'
const CHANGED = [DEAD_LETTERS, '/v2/replays', '/v2/delivery', '/v2/events']
const pathOf = (id: string) => `${DEAD_LETTERS}/${encodeURIComponent(id)}`

/** Newest `deadAt` first. */
export function useDeadLetters(filters: DeadLetterFilters & { limit?: number }, options: { isEnabled?: boolean } = {}) {
  return useInfiniteQuery({
    ...readingPages<DeadLetter>(DEAD_LETTERS, 'deadLetters', { ...filters }),
    enabled: options.isEnabled ?? true,
  })
}

export function useDeadLetterGroups(
  filters: DeadLetterFilters,
  options: { isEnabled?: boolean; pollMs?: number } = {},
) {
  return useQuery({
    ...reading<{ groups: DeadLetterGroup[] }>(`${DEAD_LETTERS}/groups`, { ...filters }),
    select: ({ groups }) => groups,
    enabled: options.isEnabled ?? true,
    refetchInterval: pollEvery(options.pollMs ?? null),
  })
}

export function useDeadLetter(id: string | undefined) {
  return useQuery({
    ...reading<{ deadLetter: DeadLetterWithPayloads }>(pathOf(id ?? '')),
    select: ({ deadLetter }) => deadLetter,
    enabled: id !== undefined,
  })
}

/** Selects the dead letters of a job: at most 10,000 ids, or a filter. */
export type DeadLetterChoice =
  | { readonly ids: readonly string[] }
  | { readonly filter: Omit<DeadLetterFilters, 'state'> & { readonly state?: 'open' } }

/** Starts a job (replays.ts shows it); with `dryRun` it only counts. */
export function useReplayDeadLetters() {
  return useWriting(
    (body: DeadLetterChoice & { dryRun?: boolean; rateEventsPerSecond?: number }) =>
      api<StartedReplay>('POST', `${DEAD_LETTERS}/replay`, { body }),
    CHANGED,
  )
}

export function useDiscardDeadLetters() {
  return useWriting(
    (body: DeadLetterChoice & { dryRun?: boolean }) => api<StartedReplay>('POST', `${DEAD_LETTERS}/discard`, { body }),
    CHANGED,
  )
}

export function useReplayDeadLetter() {
  return useWriting(({ id }: { id: string }) => api<StartedReplay>('POST', `${pathOf(id)}/replay`), CHANGED)
}

export function useDiscardDeadLetter() {
  return useWriting(({ id }: { id: string }) => api<null>('DELETE', pathOf(id)), CHANGED)
}
