import type {
  ConnectionTest,
  ConnectionTestWritten,
  DeliveryState,
  Destination,
  DestinationWritten,
  FieldOptions,
  FieldOptionsWanted,
} from '@millrace/api-types'
import { useQuery } from '@tanstack/react-query'
import { api } from './requests/client.ts'
import { reading, readingAll, readingOne, type Tagged, useWriting } from './requests/reading.ts'
import { pollEvery } from './requests/retry.ts'

/** The mask of a secret; sending it keeps the saved value. @see contracts/destinations.md §3 */
export const MASK = '********'

const DESTINATIONS = '/v2/destinations'
const pathOf = (id: string) => `${DESTINATIONS}/${encodeURIComponent(id)}`

/** All destinations, ordered by creation; with `q` those whose name, key or id contains it. */
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

/** The answer's `warning` lists secrets that were removed because the address changed. */
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

/** Tests an address and credentials, saved or not; with `destinationId`, masks stand for its saved secrets. */
export function useTestConnection() {
  return useWriting(
    (body: ConnectionTestWritten) => api<ConnectionTest>('POST', `${DESTINATIONS}/test-connection`, { body }),
    [],
  )
}

/** Asks the service of a catalog type for the choices of a field. */
export function useFieldOptions() {
  return useWriting(
    (body: FieldOptionsWanted) => api<FieldOptions>('POST', `${DESTINATIONS}/field-options`, { body }),
    [],
  )
}

/** All events that wait for a destination; throttled events count as pending. */
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
