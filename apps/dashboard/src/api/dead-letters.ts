import type { EventType } from '@millrace/protocol/event'
import type { JsonObject } from '@millrace/protocol/json'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api } from './client.ts'
import type { Attempt } from './events.ts'
import { reading, readingPages, useWriting } from './reading.ts'
import { pollEvery } from './retry.ts'

export const STAGES = ['user_transformation', 'dest_transformation', 'delivery', 'internal'] as const
export const DEAD_LETTER_STATES = ['open', 'replaying', 'resolved', 'discarded'] as const
export type Stage = (typeof STAGES)[number]
export type DeadLetterState = (typeof DEAD_LETTER_STATES)[number]

/** @see contracts/delivery.md §6 */
export interface DeadLetterFilters {
  readonly destinationId?: string
  readonly sourceId?: string
  readonly stage?: Stage
  readonly reason?: string
  /** `open` when left out. */
  readonly state?: DeadLetterState
  readonly userId?: string
  readonly messageId?: string
  readonly from?: string
  readonly to?: string
}

export interface DeadLetter {
  readonly id: string
  readonly state: DeadLetterState
  readonly stage: Stage
  readonly reason: string
  readonly messageId: string
  readonly eventType: EventType
  readonly eventName: string | null
  readonly userId: string | null
  readonly sourceId: string
  readonly destinationId: string
  readonly acceptedAt: string
  readonly deadAt: string
  readonly attempts: number
  readonly lastStatus: number | null
  readonly lastAnswer: string | null
  readonly transformationVersionIds: readonly string[]
}

export interface DeadLetterWithPayloads extends DeadLetter {
  readonly event: JsonObject
  readonly request: {
    readonly method: string
    readonly endpoint: string
    readonly headers: Readonly<Record<string, string>>
    readonly rendered?: true
  } | null
  readonly answer: { readonly status: number; readonly text: string | null } | null
  /** The first 5 and the last 15 attempts. */
  readonly history: readonly Attempt[]
}

/** @see contracts/dashboard.md §4 N8 */
export interface DeadLetterGroup {
  readonly destinationId: string
  readonly stage: Stage
  readonly reason: string
  readonly lastStatus: number | null
  readonly count: number
  readonly oldestAt: string
  readonly newestAt: string
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

/** Which dead letters a job is about: at most 10,000 by id, or whatever a filter matches. */
export type DeadLetterChoice =
  | { readonly ids: readonly string[] }
  | { readonly filter: Omit<DeadLetterFilters, 'state'> & { readonly state?: 'open' } }

/** Starts a job (replays.ts tells of it); with `dryRun` it only counts. */
export function useReplayDeadLetters() {
  return useWriting(
    (body: DeadLetterChoice & { dryRun?: boolean; rateEventsPerSecond?: number }) =>
      api<{ replayId: string }>('POST', `${DEAD_LETTERS}/replay`, { body }),
    CHANGED,
  )
}

export function useDiscardDeadLetters() {
  return useWriting(
    (body: DeadLetterChoice & { dryRun?: boolean }) =>
      api<{ replayId: string }>('POST', `${DEAD_LETTERS}/discard`, { body }),
    CHANGED,
  )
}

export function useReplayDeadLetter() {
  return useWriting(({ id }: { id: string }) => api<{ replayId: string }>('POST', `${pathOf(id)}/replay`), CHANGED)
}

export function useDiscardDeadLetter() {
  return useWriting(({ id }: { id: string }) => api<null>('DELETE', pathOf(id)), CHANGED)
}
