import type { JsonObject } from '@millrace/protocol/json'
import type { Waiting } from '@millrace/wording'
import { useQuery } from '@tanstack/react-query'
import { api } from './client.ts'
import { reading, readingAll, readingOne, type Tagged, useWriting } from './reading.ts'
import { pollEvery } from './retry.ts'

/** @see contracts/control-plane.md §6 */
export interface Destination {
  readonly id: string
  readonly key: string
  readonly name: string
  /** Name of a definition, such as `WEBHOOK`. */
  readonly type: string
  readonly enabled: boolean
  /** Secrets are `********`. */
  readonly config: JsonObject
  /** In the order in which they run. */
  readonly transformationIds: readonly string[]
  readonly delivery: DeliverySettings
  readonly workspaceId: string
  readonly createdAt: string
  readonly updatedAt: string
}

export interface DeliverySettings {
  readonly concurrency: number
  readonly ordering: 'strict' | 'none'
  readonly throttle: { readonly limit: number; readonly windowSeconds: number } | null
  readonly onTransformationError: 'dead_letter' | 'pass_through'
  readonly keepAnswers?: 'failed' | 'all'
}

export interface DestinationWritten {
  readonly name: string
  readonly type: string
  readonly enabled?: boolean
  readonly config?: JsonObject
  readonly transformationIds?: readonly string[]
  readonly delivery?: Partial<DeliverySettings>
}

/** What a secret reads as; sent back it keeps the saved value. @see contracts/destinations.md §3 */
export const MASK = '********'

const DESTINATIONS = '/v2/destinations'
const pathOf = (id: string) => `${DESTINATIONS}/${encodeURIComponent(id)}`

/** All of them, in order of creation; with `q` those whose name, key or id holds it. */
export const readingDestinations = (query: { q?: string } = {}) =>
  readingAll<Destination>(DESTINATIONS, 'destinations', query)
export const useDestinations = (query: { q?: string } = {}) => useQuery(readingDestinations(query))

export function useDestination(id: string) {
  return useQuery({
    ...readingOne<{ destination: Destination }>(pathOf(id)),
    select: ({ destination, etag }): Tagged<Destination> => ({ ...destination, etag }),
  })
}

export function useCreateDestination() {
  return useWriting(
    (body: DestinationWritten) => api<{ destination: Destination }>('POST', DESTINATIONS, { body }),
    [DESTINATIONS],
  )
}

/** The answer's `warning` tells of secrets that were removed because the address changed. */
export function useChangeDestination() {
  return useWriting(
    ({ id, etag, ...body }: { id: string; etag: string | null } & Partial<DestinationWritten>) =>
      api<{ destination: Destination }>('PATCH', pathOf(id), { body, etag }),
    [DESTINATIONS, '/v2/delivery', '/v2/transformations'],
  )
}

/** Answers 409 `Still connected` unless `cascade`, 409 `Events are waiting` unless `discard`. */
export function useDeleteDestination() {
  return useWriting(
    ({ id, etag, ...query }: { id: string; etag: string | null; cascade?: boolean; discard?: boolean }) =>
      api<null>('DELETE', pathOf(id), { query, etag }),
    [DESTINATIONS, '/v2/connections', '/v2/delivery', '/v2/dead-letters', '/v2/stats'],
  )
}

/** @see contracts/dashboard.md §4 N6 */
export interface ConnectionTest {
  /** False: nothing was tested. */
  readonly tested: boolean
  /** `doubtful`: somebody answers there, but not as a receiver of events would. */
  readonly verdict: 'good' | 'doubtful' | 'bad' | 'unknown'
  readonly ok: boolean
  readonly text: string
  readonly durationMs: number
}

/** Tries an address and credentials that need not be saved; with `destinationId` masks stand for its saved secrets. */
export function useTestConnection() {
  return useWriting(
    (body: { type: string; config: JsonObject; destinationId?: string }) =>
      api<ConnectionTest>('POST', `${DESTINATIONS}/test-connection`, { body }),
    [],
  )
}

/** @see contracts/delivery.md §8 */
export interface DeliveryState {
  readonly destinationId: string
  readonly state: 'ok' | 'resting' | 'unauthorised'
  readonly statusText: string | null
  /** Events not yet taken up, before filters. */
  readonly pending: number
  readonly retrying: number
  /** Those of `pending` that wait for the rate limit. */
  readonly throttled: number
  readonly blockedEvents: number
  readonly blockedUsers: number
  /** The user behind whom most events wait. */
  readonly hotId: { readonly id: string; readonly waiting: number } | null
  readonly concurrency: number
  /** Why events wait, where one reason holds for all of them. */
  readonly waiting: Waiting | null
  readonly oldestPendingAt: string | null
  readonly delivered24h: number
  readonly deadLettersOpen: number
  readonly expired: number
  readonly backlogBytes: number
  readonly latencyMs: { readonly p50: number | null; readonly p95: number | null; readonly p99: number | null }
}

/** Everything that waits for a destination; what is throttled counts as pending. */
export function waitingOf({ pending, retrying, blockedEvents }: DeliveryState): number {
  return pending + retrying + blockedEvents
}

export function useDeliveryState(destinationId: string, options: { pollMs?: number } = {}) {
  return useQuery({
    ...reading<DeliveryState>(`${pathOf(destinationId)}/delivery`),
    refetchInterval: pollEvery(options.pollMs ?? 10_000),
  })
}

/** The delivery states of all destinations. @see contracts/dashboard.md §4 N4 */
export const readingDeliveryStates = () => readingAll<DeliveryState>('/v2/delivery', 'delivery')
export function useDeliveryStates(options: { pollMs?: number } = {}) {
  return useQuery({ ...readingDeliveryStates(), refetchInterval: pollEvery(options.pollMs ?? null) })
}
